#include "matmul_tiles.hpp"

#include <sstream>

#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace rlx::cpu {
namespace {

bool permitted() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  static const bool granted = ::syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  return granted;
#else
  return false;
#endif
}

}  // namespace

bool tiles_usable(const emit_llvm::Machine& m, std::string_view instruction) {
  return m.isa == emit_llvm::Isa::avx512 && has_feature(m, "amx-tile") && has_feature(m, instruction) && permitted();
}

std::string tiles_declarations() {
  return R"(
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare void @llvm.x86.ldtilecfg(ptr)
declare void @llvm.x86.tilerelease()
declare void @llvm.x86.tilezero(i8)
declare void @llvm.x86.tileloadd64(i8, ptr, i64)
declare void @llvm.x86.tilestored64(i8, ptr, i64)
declare void @llvm.x86.tdpbf16ps(i8, i8, i8)
declare void @llvm.x86.tdpbssd(i8, i8, i8)
)";
}

// Tiles of 16 rows of 64 bytes: 0 to 3 the sums, by row and then column; 4 and 5 A; 6 and 7 B.
std::string tiles_text(const Microkernel& k, int vectors, const std::string& name) {
  const char* product = k.kind == PackedKind::bf16_tiles ? "tdpbf16ps" : "tdpbssd";
  const int depth_bytes = k.group * 4 * vectors * 16, strip_bytes = k.mr * 64;
  std::ostringstream s;
  const auto tile = [&](const char* what, int number, const std::string& at, const std::string& stride) {
    s << " call void @llvm.x86." << what << "(i8 " << number << ", ptr " << at << ", i64 " << stride << ")\n";
  };
  const auto sums = [&](const char* what, const char* block) {
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < vectors; ++j) {
        const std::string at = std::string("%") + block + std::to_string(i) + std::to_string(j);
        s << " " << at << " = getelementptr i8, ptr %row" << i << ", i64 " << j * 64 << "\n";
        tile(what, i * 2 + j, at, "%stride");
      }
  };
  s << "define void @" << name
    << "(i64 %units, ptr noalias %a0, ptr noalias %b0, ptr noalias %c, i64 %ldc, i64 %add, ptr %ahead0) {\n"
       "entry:\n %config = alloca [8 x i64], align 64\n";
  // Palette 1; eight tiles of 64 bytes a row; of 16 rows.
  const char* words[] = {"1", "0", "18014673391583296", "18014673391583296", "0", "0", "1157442765409226768", "0"};
  for (int i = 0; i < 8; ++i)
    s << " %w" << i << " = getelementptr i8, ptr %config, i64 " << i * 8 << "\n store i64 " << words[i] << ", ptr %w"
      << i << "\n";
  s << " call void @llvm.x86.ldtilecfg(ptr %config)\n %stride = shl i64 %ldc, 2\n %half = shl i64 %stride, 4\n"
       " %row0 = getelementptr i8, ptr %c, i64 0\n %row1 = getelementptr i8, ptr %c, i64 %half\n"
    << " %groups = sdiv i64 %units, " << k.group
    << "\n %fresh = icmp eq i64 %add, 0\n br i1 %fresh, label %zero, label %old\nold:\n";
  sums("tileloadd64", "o");
  s << " br label %loop\nzero:\n";
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < vectors; ++j) s << " call void @llvm.x86.tilezero(i8 " << i * 2 + j << ")\n";
  s << " br label %loop\nloop:\n";
  const auto carried = [&](const char* what, const char* type, const std::string& first) {
    s << " %" << what << " = phi " << type << " [ " << first << ", %old ], [ " << first << ", %zero ], [ %" << what
      << ".next, %loop ]\n";
  };
  carried("k", "i64", "0");
  carried("a", "ptr", "%a0");
  carried("b", "ptr", "%b0");
  carried("ahead", "ptr", "%ahead0");
  for (int line = 0; line < k.ahead_bytes; line += 64)
    s << " %line" << line << " = getelementptr i8, ptr %ahead, i64 " << line
      << "\n call void @llvm.prefetch.p0(ptr %line" << line << ", i32 0, i32 2, i32 1)\n";
  s << " %a.below = getelementptr i8, ptr %a, i64 1024\n";
  for (int j = 0; j < vectors; ++j) {
    const std::string at = "%b" + std::to_string(j) + ".at";
    s << " " << at << " = getelementptr i8, ptr %b, i64 " << j * 64 << "\n";
    tile("tileloadd64", 6 + j, at, std::to_string(vectors * 64));
  }
  tile("tileloadd64", 4, "%a", "64");
  tile("tileloadd64", 5, "%a.below", "64");
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < vectors; ++j)
      s << " call void @llvm.x86." << product << "(i8 " << i * 2 + j << ", i8 " << 4 + i << ", i8 " << 6 + j << ")\n";
  s << " %k.next = add nuw nsw i64 %k, 1\n %a.next = getelementptr i8, ptr %a, i64 " << strip_bytes
    << "\n %b.next = getelementptr i8, ptr %b, i64 " << depth_bytes
    << "\n %ahead.next = getelementptr i8, ptr %ahead, i64 " << k.ahead_bytes
    << "\n %more = icmp slt i64 %k.next, %groups\n br i1 %more, label %loop, label %end\nend:\n";
  sums("tilestored64", "c");
  s << " call void @llvm.x86.tilerelease()\n ret void\n}\n";
  return s.str();
}

}  // namespace rlx::cpu

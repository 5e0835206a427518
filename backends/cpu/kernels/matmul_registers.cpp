#include "matmul_registers.hpp"

#include <sstream>

namespace rlx::cpu {
namespace {

using emit_llvm::Isa;
using emit_llvm::Machine;

/// "<16 x float>"
std::string vector_type(int lanes, const char* element) {
  return std::string("<").append(std::to_string(lanes)).append(" x ").append(element).append(">");
}

class Writer {
 public:
  Writer(const Microkernel& k, const Machine& m, int vectors, bool in_place)
      : k_(k), isa_(m.isa), lanes_(register_bytes(m.isa) / k.unit_bytes), vectors_(vectors), in_place_(in_place) {
    unit_ = k.kind == PackedKind::f64                                       ? "double"
            : k.kind == PackedKind::f32 || k.kind == PackedKind::bf16_pairs ? "float"
                                                                            : "i32";
    vector_ = vector_type(lanes_, unit_.c_str());
  }

  std::string declarations() {
    line("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)");
    declare_product();
    return out_.str();
  }
  std::string text(const std::string& name) {
    line("define void @", name,
         "(i64 %units, ptr noalias %a0, ptr noalias %b0, ptr noalias %c, i64 %ldc, i64 %add, ptr %ahead) {\nentry:\n "
         "%stride = mul i64 %ldc, ",
         k_.unit_bytes);
    line(" %b1 = getelementptr i8, ptr %b0, i64 ", k_.column_header * columns());
    if (k_.column_header)
      for (int j = 0; j < vectors_; ++j)
        load("%start" + std::to_string(j), vector_, "%b0", j * lanes_ * k_.unit_bytes, vector_bytes());
    if (in_place_) {
      for (int i = 0; i < k_.mr; ++i) load("%a.row" + std::to_string(i), "ptr", "%a0", i * 8, 8);
      load("%depth", "ptr", "%a0", Microkernel::most_rows * 8, 8);
    }
    const auto start = [this](int, int j) {
      return k_.column_header ? "%start" + std::to_string(j) : std::string("zeroinitializer");
    };
    line(" %groups = sdiv i64 %units, ", k_.group);
    if (in_place_) {
      // Rows of their own leave no scalar register for a loop that brings C: all at once.
      for (int i = 0; i < k_.mr; ++i) {
        line(" %bring", i, " = mul i64 %stride, ", i);
        for (int l = 0; l < lines(); ++l)
          line(" %bring", i, "_", l, ".off = add i64 %bring", i, ", ", l * line_step(), "\n %bring", i, "_", l,
               " = getelementptr i8, ptr %c, i64 %bring", i, "_", l, ".off\n call void @llvm.prefetch.p0(ptr %bring", i,
               "_", l, ", i32 0, i32 3, i32 1)");
      }
      line(" br label %loop");
      turns("loop", "entry", "%groups", start, "%depth", "%b1", "0");
    } else {
      // The first turns bring the tile of C, a line each: its misses are slow, and the lines of B that stream from the
      // second level need most of the few that may be under way. Scalar instructions take turns from the multiply-adds
      // (ports 0 and 5 of Intel's), which is why the rest is a loop of its own.
      line(" %few = icmp slt i64 %groups, ", k_.mr * lines(), "\n %near = select i1 %few, i64 %groups, i64 ",
           k_.mr * lines(), "\n br label %fetch");
      turns("fetch", "entry", "%near", start, "%a0", "%b1", "0");
      line(
          " br i1 %fetch.more, label %fetch, label %rest\nrest:\n %over = icmp slt i64 %fetch.k1, %groups\n"
          " br i1 %over, label %loop, label %end");
      turns(
          "loop", "rest", "%groups", [this](int i, int j) { return value("fetch", k_.group, i, j); }, "%fetch.a1",
          "%fetch.b1", "%fetch.k1");
    }
    line(" br i1 %loop.more, label %loop, label %end\nend:");
    each([&](int i, int j) {
      const std::string last = value("loop", k_.group, i, j);
      if (in_place_) line(" ", next(i, j), " = phi ", vector_, " [ ", last, ", %loop ]");
      else
        line(" ", next(i, j), " = phi ", vector_, " [ ", value("fetch", k_.group, i, j), ", %rest ], [ ", last,
             ", %loop ]");
    });
    rows();
    line(" %fresh = icmp eq i64 %add, 0\n br i1 %fresh, label %put, label %sum");
    line("put:");
    each([&](int i, int j) { store(next(i, j), i, j, "%p"); });
    line(" ret void\nsum:");
    each([&](int i, int j) {
      const std::string n = std::to_string(i) + "_" + std::to_string(j);
      load("%old" + n, vector_, "%c" + std::to_string(i), j * vector_bytes(), k_.unit_bytes);
      line(" %new", n, " = ", unit_ == "i32" ? "add " : "fadd ", vector_, " %old", n, ", ", next(i, j));
      store("%new" + n, i, j, "%s");
    });
    line(" ret void\n}");
    return out_.str();
  }

 private:
  template <class... T>
  void line(const T&... parts) {
    (out_ << ... << parts) << '\n';
  }
  template <class F>
  void each(F f) {
    for (int i = 0; i < k_.mr; ++i)
      for (int j = 0; j < vectors_; ++j) f(i, j);
  }
  int vector_bytes() const { return lanes_ * k_.unit_bytes; }
  int columns() const { return vectors_ * lanes_; }
  /// Cache lines that a row of the tile may lie on.
  int lines() const { return vectors_ * vector_bytes() / 64 + 1; }
  /// From one of these lines to the next: never past the row's end.
  int line_step() const { return vectors_ * vector_bytes() - 1 < 64 ? vectors_ * vector_bytes() - 1 : 64; }
  static std::string next(int i, int j) { return numbered("%next", i, j); }
  static std::string column(const std::string& p, int u, int j) { return numbered("%" + p + ".bv", u, j); }
  /// A sum of block `p` after `u` units of a group.
  static std::string value(const std::string& p, int u, int i, int j) {
    return numbered("%" + p + ".u" + std::to_string(u) + "_", i, j);
  }

  /// One loop, whose block `p` is entered from `from`; it ends before its branch.
  template <class F>
  void turns(const std::string& p, const std::string& from, const std::string& limit, F start, const char* a,
             const char* b, const char* k) {
    const std::string v = "%" + p;
    const auto carried = [&](const char* name, const char* type, const char* first) {
      line(" ", v, name, "0 = phi ", type, " [ ", first, ", %", from, " ], [ ", v, name, "1, ", v, " ]");
    };
    line(p, ":");
    carried(".k", "i64", k);
    carried(".a", "ptr", a);
    carried(".b", "ptr", b);
    const bool fetches = p == "fetch";
    if (fetches) {
      carried(".row", "ptr", "%c");
      carried(".at", "i64", "0");
    }
    each([&](int i, int j) {
      line(" ", value(p, 0, i, j), " = phi ", vector_, " [ ", start(i, j), ", %", from, " ], [ ",
           value(p, k_.group, i, j), ", ", v, " ]");
    });
    if (fetches) {
      const int step = line_step();
      line(" ", v, ".line = getelementptr i8, ptr ", v, ".row0, i64 ", v, ".at0\n call void @llvm.prefetch.p0(ptr ", v,
           ".line, i32 0, i32 3, i32 1)\n ", v, ".next = add nuw nsw i64 ", v, ".at0, ", step, "\n ", v,
           ".last = icmp sgt i64 ", v, ".next, ", (lines() - 1) * step, "\n ", v, ".at1 = select i1 ", v,
           ".last, i64 0, i64 ", v, ".next\n ", v, ".below = getelementptr i8, ptr ", v, ".row0, i64 %stride\n ", v,
           ".row1 = select i1 ", v, ".last, ptr ", v, ".below, ptr ", v, ".row0");
    }
    line(" ", v, ".off = shl i64 ", v, ".k0, 6\n ", v, ".ahead = getelementptr i8, ptr %ahead, i64 ", v,
         ".off\n call void @llvm.prefetch.p0(ptr ", v, ".ahead, i32 0, i32 2, i32 1)");
    if (in_place_) load(v + ".place", "i64", v + ".a0", 0, 8);
    for (int u = 0; u < k_.group; ++u) {
      if (in_place_ && u) line(" ", v, ".place", u, " = add i64 ", v, ".place, ", u);
      for (int j = 0; j < vectors_; ++j)
        load(column(p, u, j), vector_, v + ".b0", (u * vectors_ + j) * vector_bytes(), vector_bytes());
      for (int i = 0; i < k_.mr; ++i) {
        const std::string one = numbered(v + ".one", u, i), first = numbered(v + ".first", u, i);
        if (in_place_)
          line(" ", one, ".at = getelementptr ", unit_, ", ptr %a.row", i, ", i64 ", v, ".place",
               u ? std::to_string(u) : "", "\n ", one, " = load ", unit_, ", ptr ", one, ".at, align ", k_.unit_bytes);
        else load(one, unit_, v + ".a0", (u * k_.mr + i) * k_.unit_bytes, k_.unit_bytes);
        line(" ", first, " = insertelement ", vector_, " poison, ", unit_, " ", one, ", i32 0\n ",
             numbered(v + ".av", u, i), " = shufflevector ", vector_, " ", first, ", ", vector_, " poison, <", lanes_,
             " x i32> zeroinitializer");
        for (int j = 0; j < vectors_; ++j) multiply(p, u, i, j);
      }
    }
    line(" ", v, ".k1 = add nuw nsw i64 ", v, ".k0, 1\n ", v, ".a1 = getelementptr i8, ptr ", v, ".a0, i64 ",
         in_place_ ? k_.group * 8 : k_.group * k_.mr * k_.unit_bytes);
    line(" ", v, ".b1 = getelementptr i8, ptr ", v, ".b0, i64 ", k_.group * columns() * k_.unit_bytes, "\n ", v,
         ".more = icmp slt i64 ", v, ".k1, ", limit);
  }
  static std::string numbered(std::string name, int i, int j) {
    return name.append(std::to_string(i)).append("_").append(std::to_string(j));
  }

  void load(const std::string& to, const std::string& type, const std::string& from, int offset, int align) {
    line(" ", to, ".at = getelementptr i8, ptr ", from, ", i64 ", offset, "\n ", to, " = load ", type, ", ptr ", to,
         ".at, align ", align);
  }
  void store(const std::string& value, int i, int j, const char* block) {
    const std::string at = numbered(block, i, j);
    line(" ", at, " = getelementptr i8, ptr %c", i, ", i64 ", j * vector_bytes(), "\n store ", vector_, " ", value,
         ", ptr ", at, ", align ", k_.unit_bytes);
  }
  void rows() {
    for (int i = 0; i < k_.mr; ++i)
      line(" %off", i, " = mul i64 %stride, ", i, "\n %c", i, " = getelementptr i8, ptr %c, i64 %off", i);
  }
  int bits() const { return vector_bytes() * 8; }
  std::string product() const {
    const std::string l = std::to_string(lanes_);
    switch (k_.kind) {
      case PackedKind::f32:
        return "@llvm.fmuladd.v" + l + "f32";
      case PackedKind::f64:
        return "@llvm.fmuladd.v" + l + "f64";
      case PackedKind::bf16_pairs:
        return "@llvm.x86.avx512bf16.dpbf16ps." + std::to_string(bits());
      case PackedKind::i8_quads:
        return "@llvm.x86.avx512.vpdpbusd." + std::to_string(bits());
      case PackedKind::i16_pairs:
        return isa_ == Isa::avx512 ? "@llvm.x86.avx512.pmaddw.d.512"
               : isa_ == Isa::avx2 ? "@llvm.x86.avx2.pmadd.wd"
                                   : "@llvm.x86.sse2.pmadd.wd";
      default:
        break;
    }
    return "";
  }
  /// The type that the operands of the product have, where it differs from the tile's.
  std::string operand() const {
    if (k_.kind == PackedKind::bf16_pairs) return vector_type(2 * lanes_, "bfloat");
    if (k_.kind == PackedKind::i16_pairs) return vector_type(2 * lanes_, "i16");
    return vector_;
  }
  void declare_product() {
    const std::string f = product(), x = operand();
    if (f.empty()) return;
    if (k_.kind == PackedKind::i16_pairs) line("declare ", vector_, " ", f, "(", x, ", ", x, ")");
    else if (k_.kind == PackedKind::f32 || k_.kind == PackedKind::f64)
      line("declare ", vector_, " ", f, "(", x, ", ", x, ", ", x, ")");
    else line("declare ", vector_, " ", f, "(", vector_, ", ", x, ", ", x, ")");
  }
  void multiply(const std::string& p, int u, int i, int j) {
    const std::string n = p + std::to_string((u * k_.mr + i) * vectors_ + j), a = numbered("%" + p + ".av", u, i),
                      b = column(p, u, j), x = operand(), f = product();
    const std::string from = value(p, u, i, j), to = value(p, u + 1, i, j);
    const auto cast = [&] {
      line(" %x", n, " = bitcast ", vector_, " ", a, " to ", x, "\n %y", n, " = bitcast ", vector_, " ", b, " to ", x);
    };
    switch (k_.kind) {
      case PackedKind::f32:
      case PackedKind::f64:
        line(" ", to, " = call ", vector_, " ", f, "(", x, " ", a, ", ", x, " ", b, ", ", x, " ", from, ")");
        break;
      case PackedKind::bf16_pairs:
        cast();
        line(" ", to, " = call ", vector_, " ", f, "(", vector_, " ", from, ", ", x, " %x", n, ", ", x, " %y", n, ")");
        break;
      case PackedKind::i8_quads:
        line(" ", to, " = call ", vector_, " ", f, "(", vector_, " ", from, ", ", x, " ", a, ", ", x, " ", b, ")");
        break;
      case PackedKind::i16_pairs:
        cast();
        line(" %p", n, " = call ", vector_, " ", f, "(", x, " %x", n, ", ", x, " %y", n, ")\n ", to, " = add ", vector_,
             " %p", n, ", ", from);
        break;
      default:
        line(" %p", n, " = mul ", vector_, " ", a, ", ", b, "\n ", to, " = add ", vector_, " %p", n, ", ", from);
        break;
    }
  }

  const Microkernel& k_;
  Isa isa_;
  int lanes_, vectors_;
  bool in_place_;
  std::string unit_, vector_;
  std::ostringstream out_;
};

}  // namespace

std::string registers_declarations(const Microkernel& shape, const Machine& machine) {
  return Writer(shape, machine, 1, false).declarations();
}

std::string registers_text(const Microkernel& shape, const Machine& machine, int vectors, bool in_place,
                           const std::string& name) {
  return Writer(shape, machine, vectors, in_place).text(name);
}

}  // namespace rlx::cpu

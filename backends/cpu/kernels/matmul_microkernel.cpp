#include "matmul_microkernel.hpp"

#include "../jit.hpp"
#include "matmul_registers.hpp"
#include "matmul_tiles.hpp"
#include "runtime/disk_cache.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

namespace rlx::cpu {
namespace {

using emit_llvm::Isa;
using emit_llvm::Machine;

bool is_x86(const Machine& m) { return m.triple.starts_with("x86_64"); }

std::string function_name(int vectors, bool in_place = false) {
  return (in_place ? "rlx_matmul_in_place" : "rlx_matmul_tile") + std::to_string(vectors);
}

/// Kinds whose packed A holds elements as they are stored.
bool reads_in_place(PackedKind kind) { return kind == PackedKind::f32 || kind == PackedKind::f64; }

struct Code {
  Microkernel kernel;
  std::unique_ptr<LoadedCode> code;
};

Code make(PackedKind kind, const Machine& machine) {
  static runtime::DiskCache* cache =
      new runtime::DiskCache(runtime::DiskCache::options_from_environment());  // outlives static objects
  Code c{microkernel_shape(kind, machine), nullptr};
  const std::string text = microkernel_text(c.kernel, machine),
                    key = "cpu matmul " + machine.description() + "\n" + text;
  std::vector<std::string> names;
  const int widths = c.kernel.nr / c.kernel.lanes;
  for (const bool in_place : {false, true})
    for (int v = 1; v <= widths && (!in_place || reads_in_place(kind)); ++v)
      names.push_back(function_name(v, in_place));
  if (const auto known = cache->get(key)) {
    try {
      c.code = load(*known, names);
    } catch (const DeviceError&) {
      // whole, but not what the linker takes: made again below
    }
  }
  if (!c.code) {
    const std::vector<std::byte> object = emit_llvm::assemble(text, machine);
    c.code = load(object, names);
    cache->put(key, object);
  }
  for (std::size_t v = 0; v < names.size(); ++v) {
    const auto width = v % static_cast<std::size_t>(widths);
    (v == width ? c.kernel.runs : c.kernel.in_place)[width] = reinterpret_cast<Microkernel::Run>(c.code->function(v));
  }
  return c;
}

}  // namespace

bool has_feature(const Machine& m, std::string_view feature) {
  return ("," + m.features + ",").find(",+" + std::string(feature) + ",") != std::string::npos;
}

PackedKind packed_kind(DType operands, const Machine& m) {
  if (operands == DType::f64) return PackedKind::f64;
  if (operands == DType::bf16 && tiles_usable(m, "amx-bf16")) return PackedKind::bf16_tiles;
  if (operands == DType::i8 && tiles_usable(m, "amx-int8")) return PackedKind::i8_tiles;
  // Where vdpbf16ps is as fast as an fma; Intel's runs at a quarter of that rate and loses to widening.
  if (operands == DType::bf16 && m.isa == Isa::avx512 && has_feature(m, "avx512bf16") && m.cpu.starts_with("znver"))
    return PackedKind::bf16_pairs;
  if (operands != DType::i8) return PackedKind::f32;
  if (m.isa == Isa::avx512 && has_feature(m, "avx512vnni")) return PackedKind::i8_quads;
  return is_x86(m) ? PackedKind::i16_pairs : PackedKind::i32;
}

namespace {
int units_step(PackedKind kind) {
  switch (kind) {
    case PackedKind::i8_quads:
    case PackedKind::i8_tiles:
      return 4;
    case PackedKind::bf16_pairs:
    case PackedKind::bf16_tiles:
    case PackedKind::i16_pairs:
      return 2;
    default:
      return 1;
  }
}
}  // namespace

Microkernel microkernel_shape(PackedKind kind, const Machine& m) {
  Microkernel k;
  k.kind = kind;
  k.unit_bytes = kind == PackedKind::f64 ? 8 : 4;
  k.step = units_step(kind);
  if (is_tiles(kind)) {
    k.mr = k.nr = 32;
    k.lanes = k.group = 16;
    k.ahead_bytes = 512;
    return k;
  }
  k.lanes = register_bytes(m.isa) / k.unit_bytes;
  // Of 32 registers 24 hold the tile, of 16 12, of those without fma 8: the rest are for B, a row of A and a product.
  // Wide rather than square: a turn loads fewer registers, and several of A are under way.
  k.nr = (m.isa == Isa::avx512 ? 3 : 2) * k.lanes;
  k.mr = m.isa == Isa::avx512 ? 8 : m.isa == Isa::avx2 ? 6 : 4;
  if (kind == PackedKind::i8_quads) k.column_header = 4;
  return k;
}

std::string microkernel_text(const Microkernel& shape, const Machine& machine) {
  const bool tiles = is_tiles(shape.kind);
  std::string text = tiles ? tiles_declarations() : registers_declarations(shape, machine);
  for (int v = 1; v <= shape.nr / shape.lanes; ++v)
    text += tiles ? tiles_text(shape, v, function_name(v)) : registers_text(shape, machine, v, false, function_name(v));
  for (int v = 1; v <= shape.nr / shape.lanes && reads_in_place(shape.kind); ++v)
    text += registers_text(shape, machine, v, true, function_name(v, true));
  return text;
}

const Microkernel& microkernel(PackedKind kind, const Machine& machine) {
  static std::mutex mutex;
  static auto* const made = new std::map<std::pair<std::string, PackedKind>, Code>;  // never destroyed: see Jit
  const std::lock_guard lock(mutex);
  std::pair key{machine.description(), kind};
  auto it = made->find(key);
  if (it == made->end()) it = made->emplace(std::move(key), make(kind, machine)).first;
  return it->second.kernel;
}

}  // namespace rlx::cpu

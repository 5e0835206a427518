// The innermost loops of matrix products: a tile of C in registers, as code made once a process for each kind and
// level.
#pragma once
#include "compile/emit_llvm/emit_llvm.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace rlx::cpu {

/// How operands are packed. A unit is one lane of a register: one element, or `step` elements consecutive along k.
enum class PackedKind : std::uint8_t {
  f32,  ///< f32, sums in f32; narrower floats are widened when packed.
  f64,
  bf16_pairs,  ///< Two bf16 a unit, sums in f32 (vdpbf16ps, which takes subnormal operands and sums as zero).
  i8_quads,    ///< Four i8 a unit, sums in i32 modulo 2^32 (vpdpbusd: A is stored plus 128, B's panels start with what
               ///< that costs).
  i16_pairs,   ///< Two i8 widened to i16 a unit, sums in i32 (pmaddwd).
  i32,         ///< i8 widened to i32.
  bf16_tiles,  ///< Two bf16 a unit, sums in f32, in tile registers (subnormals as in bf16_pairs). Strips of A are
               ///< [units / 16][mr][16].
  i8_tiles,    ///< Four i8 a unit, sums in i32 modulo 2^32, likewise.
};
constexpr bool is_tiles(PackedKind k) { return k == PackedKind::bf16_tiles || k == PackedKind::i8_tiles; }

struct Microkernel {
  PackedKind kind = PackedKind::f32;
  int mr = 1, nr = 1;     ///< Rows and columns of the tile.
  int lanes = 1;          ///< Columns of a register; a panel may be narrower than nr by whole registers.
  int step = 1;           ///< Elements along k in a unit.
  int group = 4;          ///< Units that a turn of the loop takes; packed operands end with whole groups.
  int unit_bytes = 4;     ///< Also of an element of C.
  int column_header = 0;  ///< Bytes a column before the first unit of a panel of B: the start values of the sums.
  /// C[mr][w] (rows `ldc` elements apart) = or += (`add`) sum over `units` (whole groups, at least one) of A
  /// [units][mr] times B [units][w]. `ahead`: memory to bring nearer meanwhile, ahead_bytes a group; need not exist.
  using Run = void (*)(std::int64_t units, const void* a, const void* b, void* c, std::int64_t ldc, std::int64_t add,
                       const void* ahead);
  int ahead_bytes = 64;
  static constexpr int most_registers = 4, most_tile_bytes = 4096;
  Run runs[most_registers] = {};  ///< By the width w in registers, less one.
  /// The same where A is read where it lies (of f32 and f64, else null): `a` is the address of a Rows.
  Run in_place[most_registers] = {};
  static constexpr int most_rows = 8;
  struct Rows {
    const void* row[most_rows];  ///< Row i of the strip; those that it lacks repeat another.
    const std::int64_t* depth;   ///< Where depth k is, in elements from the row; followed from the first of a group on.
  };
  /// Columns that a panel with `columns` used ones has.
  int width(std::int64_t columns) const {
    return static_cast<int>(columns < nr ? (columns + lanes - 1) / lanes * lanes : nr);
  }
  /// With panels of even width for so many columns: 32 and 32 instead of 48 and 16, whose loads are many for few sums.
  Microkernel for_columns(std::int64_t columns) const {
    const std::int64_t registers = (columns + lanes - 1) / lanes, panels = (columns + nr - 1) / nr;
    Microkernel even = *this;
    if (panels > 0) even.nr = static_cast<int>((registers + panels - 1) / panels) * lanes;
    return even;
  }
};

bool has_feature(const emit_llvm::Machine& machine, std::string_view feature);
/// The kind that serves `operands` (f16, bf16, f32, f64, i8) best on a machine.
PackedKind packed_kind(DType operands, const emit_llvm::Machine& machine);
/// Shape without code: cheap.
Microkernel microkernel_shape(PackedKind kind, const emit_llvm::Machine& machine);
/// Its LLVM IR, one function for each width.
std::string microkernel_text(const Microkernel& shape, const emit_llvm::Machine& machine);
/// With code, from this process, from the disk cache of the environment's settings, or made. Throws DeviceError.
const Microkernel& microkernel(PackedKind kind, const emit_llvm::Machine& machine);

}  // namespace rlx::cpu

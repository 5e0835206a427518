// The innermost loops of matrix products: a tile of C in registers, as code made once a process for each kind and
// level.
#pragma once
#include "compile/emit_llvm/emit_llvm.hpp"

#include <cstdint>
#include <string>

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
};

constexpr int unit_group = 4;  ///< Units that a turn of the loop takes; packed operands end with whole groups.

struct Microkernel {
  PackedKind kind = PackedKind::f32;
  int mr = 1, nr = 1;  ///< Rows and columns of the tile.
  int step = 1;        ///< Elements along k in a unit.
  int unit_bytes = 4;  ///< Also of an element of C.
  int panel_header =
      0;  ///< Bytes before the first unit of a panel of B: the start values of the tile's columns, i32[nr].
  /// C[mr][nr] (rows `ldc` elements apart) = or += (`add`) sum over `units` (whole groups, at least one) of A
  /// [units][mr] times B [units][nr]. `ahead`: memory to bring nearer meanwhile, 64 bytes a group; need not exist.
  using Run = void (*)(std::int64_t units, const void* a, const void* b, void* c, std::int64_t ldc, std::int64_t add,
                       const void* ahead);
  Run run = nullptr;
};

/// The kind that serves `operands` (f16, bf16, f32, f64, i8) best on a machine.
PackedKind packed_kind(DType operands, const emit_llvm::Machine& machine);
/// Shape without code: cheap.
Microkernel microkernel_shape(PackedKind kind, const emit_llvm::Machine& machine);
/// Its LLVM IR, one function "rlx_matmul_tile".
std::string microkernel_text(const Microkernel& shape, const emit_llvm::Machine& machine);
/// With code, from this process, from the disk cache of the environment's settings, or made. Throws DeviceError.
const Microkernel& microkernel(PackedKind kind, const emit_llvm::Machine& machine);

}  // namespace rlx::cpu

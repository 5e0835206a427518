// Matrix products: packed operands, tiles in registers, blocks in the caches. dot_general of f16, bf16, f32, f64 and
// i8.
#pragma once
#include "compile/emit_llvm/emit_llvm.hpp"

#include <rlx/compile/target.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace rlx::cpu {

/// c [batch][m][n] = sum over k of a[batch, m, k] * b[batch, k, n]; where the elements of a and b are is said by
/// offsets in elements, the sum of three each, so that any dimension numbers are served, and convolutions. Sums are
/// formed in f32 (f64, i32) and rounded once.
struct MatmulProblem {
  DType in = DType::f32, out = DType::f32;  ///< out: in, or the type of the sums.
  std::vector<std::int64_t> a_batch{}, a_rows{}, a_depth{}, b_batch{}, b_columns{}, b_depth{};
  std::int64_t c_row = 0, c_batch = 0;  ///< Elements from a row (product) of c to the next; 0: n (m * n).
  std::int64_t row_stride() const { return c_row ? c_row : n(); }
  std::int64_t batch_stride() const { return c_batch ? c_batch : m() * n(); }
  std::int64_t batch() const { return static_cast<std::int64_t>(a_batch.size()); }
  std::int64_t m() const { return static_cast<std::int64_t>(a_rows.size()); }
  std::int64_t n() const { return static_cast<std::int64_t>(b_columns.size()); }
  std::int64_t k() const { return static_cast<std::int64_t>(a_depth.size()); }
};

/// An operand that a kernel makes in pieces, where `make` is given: it is packed from there and never whole. In rows of
/// the operand (of its last dimension) either the depth runs or, of b alone, the columns.
struct MadeOperand {
  const Prologue* make = nullptr;
  std::int64_t row = 0;  ///< Elements of a row.
};
/// Generated kernels that a product runs.
struct MatmulKernels {
  const Epilogue* epilogue = nullptr;  ///< Needs a c without gaps.
  MadeOperand a{}, b{};
  bool makes() const { return a.make || b.make; }
};

/// Bytes for packed operands and sums of a product on up to `threads` threads (0: default_threads); `makes` as in
/// MatmulKernels.
std::int64_t matmul_workspace(const emit_llvm::Machine& machine, DType in, DType out, std::int64_t batch,
                              std::int64_t m, std::int64_t n, std::int64_t k, int threads = 0, bool makes = false);
/// `workspace` is what matmul_workspace asks for with the same number of threads. On up to `threads` threads (0:
/// default_threads), whose number does not change a bit of the result. Throws DeviceError.
void matmul(const emit_llvm::Machine& machine, const MatmulProblem& p, const void* a, const void* b, void* c,
            void* workspace, int threads = 0, const MatmulKernels& kernels = {});
/// How often elements of a (first) and b are packed.
std::pair<std::int64_t, std::int64_t> matmul_passes(const emit_llvm::Machine& machine, DType in, DType out,
                                                    std::int64_t m, std::int64_t n, std::int64_t k);

/// matmul on as many threads as default_threads, fewer where the workspace, whose bytes are given, was planned for
/// fewer.
void matmul_in(void* workspace, std::int64_t bytes, const emit_llvm::Machine& machine, const MatmulProblem& p,
               const void* a, const void* b, void* c, const MatmulKernels& kernels);

/// The record's parts.
Answer accepts_dot_general(const Instance& i);
Answer makes_dot_general_operand(const Instance& i, std::size_t operand);
std::int64_t dot_general_workspace(const Instance& i);
void launch_dot_general(const LaunchCall& call);

}  // namespace rlx::cpu

// One record a line. Primitives without a record here are generated.
#include "kernels.hpp"

#include "kernels/conv.hpp"
#include "kernels/matmul.hpp"
#include "kernels/sized.hpp"
#include "kernels/sort.hpp"

#include <array>

namespace rlx::cpu {

std::span<const KernelRecord> kernel_records() {
  static const DTypeSet matrices{DType::f16, DType::bf16, DType::f32, DType::f64, DType::i8};
  static const std::array records{
      KernelRecord{.name = "cpu.matmul",
                   .op = "dot_general",
                   .provider = "handwritten",
                   .dtypes = {matrices},
                   .accepts = accepts_dot_general,
                   .action = launch_dot_general,
                   .workspace = dot_general_workspace,
                   .epilogue = true,
                   .prologue = makes_dot_general_operand,
                   .where = "backends/cpu/kernels/dot_general.cpp"},
      KernelRecord{.name = "cpu.conv",
                   .op = "conv",
                   .provider = "handwritten",
                   .dtypes = {DTypeSet{DType::f16, DType::bf16, DType::f32, DType::f64}},
                   .accepts = accepts_conv,
                   .action = launch_conv,
                   .workspace = conv_workspace,
                   .epilogue = true,
                   .where = "backends/cpu/kernels/conv.cpp"},
      KernelRecord{.name = "cpu.nonzero",
                   .op = "nonzero",
                   .provider = "handwritten",
                   .accepts = accepts_sized,
                   .action = launch_nonzero,
                   .workspace = sized_workspace,
                   .where = "backends/cpu/kernels/sized.cpp"},
      KernelRecord{.name = "cpu.repeat",
                   .op = "repeat",
                   .provider = "handwritten",
                   .accepts = accepts_sized,
                   .action = launch_repeat,
                   .workspace = sized_workspace,
                   .where = "backends/cpu/kernels/sized.cpp"},
      KernelRecord{.name = "cpu.sort",
                   .op = "sort",
                   .provider = "handwritten",
                   .accepts = accepts_sort,
                   .action = launch_sort,
                   .workspace = sort_workspace,
                   .where = "backends/cpu/kernels/sort.cpp"},
      KernelRecord{.name = "cpu.top_k",
                   .op = "top_k",
                   .provider = "handwritten",
                   .accepts = accepts_top_k,
                   .action = launch_top_k,
                   .workspace = top_k_workspace,
                   .where = "backends/cpu/kernels/sort.cpp"},
  };
  return records;
}

}  // namespace rlx::cpu

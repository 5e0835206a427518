#include "records.hpp"

#include "knn.hpp"
#include "rasterize.hpp"

#include <array>

namespace rlx::splat {

std::span<const KernelRecord> cpu_records() {
  static const DTypeSet f32{DType::f32}, i32{DType::i32};
  static const std::array records{
      KernelRecord{.name = "cpu.knn",
                   .op = "splat.knn",
                   .provider = "handwritten",
                   .action = cpu::launch_knn,
                   .workspace = cpu::knn_workspace,
                   .where = "splat/kernels/cpu/knn.cpp"},
      KernelRecord{.name = "cpu.rasterize",
                   .op = "splat.rasterize",
                   .provider = "handwritten",
                   .dtypes = {f32, f32, f32, f32, f32, i32, i32, f32},
                   .action = cpu::launch_rasterize,
                   .workspace = cpu::rasterize_workspace,
                   .where = "splat/kernels/cpu/rasterize.cpp"},
      KernelRecord{.name = "cpu.rasterize_gradient",
                   .op = "splat.rasterize_gradient",
                   .provider = "handwritten",
                   .dtypes = {f32, f32, f32, f32, f32, i32, i32, f32, i32, f32, f32},
                   .action = cpu::launch_rasterize_gradient,
                   .workspace = cpu::rasterize_gradient_workspace,
                   .where = "splat/kernels/cpu/rasterize.cpp"},
  };
  return records;
}

}  // namespace rlx::splat

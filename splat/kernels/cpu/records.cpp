#include "splat/device_kernels.hpp"

#include "knn.hpp"
#include "project.hpp"
#include "rasterize.hpp"
#include "sh_color.hpp"
#include "ssim.hpp"
#include "tile_bin.hpp"

#include <array>

namespace rlx::splat {

static std::string f32_sums_in_f64(const Instance&) { return "f32 sums in f64"; }

static std::span<const KernelRecord> records() {
  static const DTypeSet f32{DType::f32}, i32{DType::i32};
  static const std::array list{
      KernelRecord{.name = "cpu.knn",
                   .op = "splat.knn",
                   .provider = "handwritten",
                   .action = cpu::launch_knn,
                   .workspace = cpu::knn_workspace,
                   .where = "splat/kernels/cpu/knn.cpp"},
      KernelRecord{.name = "cpu.project",
                   .op = "splat.project",
                   .provider = "handwritten",
                   .dtypes = {f32},
                   .accepts = cpu::project_accepts,
                   .action = cpu::launch_project,
                   .workspace = cpu::project_workspace,
                   .where = "splat/kernels/cpu/project.cpp"},
      KernelRecord{.name = "cpu.project_gradient",
                   .op = "splat.project_gradient",
                   .provider = "handwritten",
                   .dtypes = {f32},
                   .accepts = cpu::project_accepts,
                   .action = cpu::launch_project_gradient,
                   .workspace = cpu::project_gradient_workspace,
                   .widens = f32_sums_in_f64,
                   .where = "splat/kernels/cpu/project.cpp"},
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
      KernelRecord{.name = "cpu.sh_color",
                   .op = "splat.sh_color",
                   .provider = "handwritten",
                   .dtypes = {f32},
                   .action = cpu::launch_sh_color,
                   .where = "splat/kernels/cpu/sh_color.cpp"},
      KernelRecord{.name = "cpu.sh_color_gradient",
                   .op = "splat.sh_color_gradient",
                   .provider = "handwritten",
                   .dtypes = {f32},
                   .action = cpu::launch_sh_color_gradient,
                   .where = "splat/kernels/cpu/sh_color.cpp"},
      KernelRecord{.name = "cpu.ssim",
                   .op = "splat.ssim",
                   .provider = "handwritten",
                   .dtypes = {f32, f32},
                   .action = cpu::launch_ssim,
                   .workspace = cpu::ssim_workspace,
                   .widens = f32_sums_in_f64,
                   .where = "splat/kernels/cpu/ssim.cpp"},
      KernelRecord{.name = "cpu.ssim_gradient",
                   .op = "splat.ssim_gradient",
                   .provider = "handwritten",
                   .dtypes = {f32, f32, f32},
                   .action = cpu::launch_ssim_gradient,
                   .workspace = cpu::ssim_gradient_workspace,
                   .where = "splat/kernels/cpu/ssim.cpp"},
      KernelRecord{.name = "cpu.tile_bin",
                   .op = "splat.tile_bin",
                   .provider = "handwritten",
                   .action = cpu::launch_tile_bin,
                   .workspace = cpu::tile_bin_workspace,
                   .where = "splat/kernels/cpu/tile_bin.cpp"},
  };
  return list;
}

extern const DeviceKernels cpu_kernels{"cpu", records};

}  // namespace rlx::splat

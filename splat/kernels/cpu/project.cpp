#include "project.hpp"

#include <rlx/ir/op.hpp>
#include <rlx/splat/attributes.hpp>

#include "blocks.hpp"
#include "instruction_level.hpp"
#include "project_arrays.hpp"
#include "splat/ops/common.hpp"

#include <algorithm>
#include <cmath>

namespace rlx::splat::cpu {
namespace {

/// What the workspace begins with: the cameras that see something, and their images.
std::int64_t cameras_bytes(const Instance& i) {
  const std::int64_t images = i.signature.shape(2)[0].constant();
  return aligned(images * static_cast<std::int64_t>(sizeof(ProjectCamera))) +
         aligned(images * static_cast<std::int64_t>(sizeof(std::int64_t)));
}
/// Sums over the Gaussians of a block, [blocks, images, view_entries].
std::int64_t project_sums(const Instance& i) {
  return blocks_of(i.signature.shape(0)[0].constant()) * i.signature.shape(2)[0].constant() * view_entries;
}

/// The camera of an image, unless it has an entry that is no number or beyond the limit, or no inverse within it.
bool camera_of(const float* view, const float* lens, float limit, ProjectCamera& k) {
  bool sees = true;
  const auto read = [&](float x) {
    sees = sees && std::abs(x) <= limit;
    return x;
  };
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) k.rotation[3 * i + j] = read(view[4 * i + j]);
    k.translation[i] = read(view[4 * i + 3]);
  }
  k.fx = read(lens[0]), k.fy = read(lens[4]), k.cx = read(lens[2]), k.cy = read(lens[5]);
  return sees && std::min(std::abs(k.fx), std::abs(k.fy)) >= 1 / limit;
}

ProjectArrays project_arrays_of(const LaunchCall& c) {
  const auto& a = c.instance.attrs->as<ProjectAttrs>();
  const std::int64_t images = c.in[2].type.dim(0).constant();
  auto* const cameras = static_cast<ProjectCamera*>(c.workspace.data);
  auto* const numbers = reinterpret_cast<std::int64_t*>(
      static_cast<std::byte*>(c.workspace.data) + aligned(images * static_cast<std::int64_t>(sizeof(ProjectCamera))));
  ProjectArrays out{.means = static_cast<const float*>(c.in[0].data),
                    .covars = static_cast<const float*>(c.in[1].data),
                    .cameras = cameras,
                    .images = numbers,
                    .views = 0,
                    .n = c.in[0].type.dim(0).constant(),
                    .orthographic = a.camera == CameraModel::ortho,
                    .width = static_cast<float>(a.width),
                    .height = static_cast<float>(a.height),
                    .near = static_cast<float>(a.near),
                    .far = static_cast<float>(a.far),
                    .clip = static_cast<float>(a.radius_clip),
                    .blur = static_cast<float>(a.blur),
                    .limit = static_cast<float>(square_limit(DType::f32))};
  for (std::int64_t i = 0; i < images; ++i)
    if (camera_of(static_cast<const float*>(c.in[2].data) + 16 * i, static_cast<const float*>(c.in[3].data) + 9 * i,
                  out.limit, cameras[out.views]))
      numbers[out.views++] = i;
  return out;
}

template <class T>
T* project_data(const BufferView& v) {
  return static_cast<T*>(v.data);
}

}  // namespace

Answer project_accepts(const Instance& i) {
  if (i.attrs->as<ProjectAttrs>().camera == CameraModel::fisheye) return Answer::no("fisheye cameras");
  return true;
}

std::int64_t project_workspace(const Instance& i) { return cameras_bytes(i); }

void launch_project(const LaunchCall& c) {
  const ProjectArrays a = project_arrays_of(c);
  const ProjectKernels& k = RLX_OF_LEVEL(project, c.instance);
  if (a.views < c.in[2].type.dim(0).constant())  // The kernel does not come to all images.
    for (const BufferView& v : c.out) std::fill_n(project_data<std::int32_t>(v), v.type.numel().constant(), 0);
  const ProjectResults r{project_data<std::int32_t>(c.out[0]), project_data<float>(c.out[1]),
                         project_data<float>(c.out[2]), project_data<float>(c.out[3]), project_data<float>(c.out[4])};
  for_blocks("splat.project", a.n,
             [&](std::int64_t, std::int64_t begin, std::int64_t end) { k.forward(a, begin, end, r); });
}

std::int64_t project_gradient_workspace(const Instance& i) {
  return cameras_bytes(i) + project_sums(i) * static_cast<std::int64_t>(sizeof(float));
}

void launch_project_gradient(const LaunchCall& c) {
  const ProjectArrays a = project_arrays_of(c);
  const ProjectKernels& k = RLX_OF_LEVEL(project, c.instance);
  const ProjectCotangents cotangents{project_data<const float>(c.in[4]), project_data<const float>(c.in[5]),
                                     project_data<const float>(c.in[6]), project_data<const float>(c.in[7])};
  const ProjectGradients to{project_data<float>(c.out[0]), project_data<float>(c.out[1])};
  const HostView<float***> sums(
      reinterpret_cast<float*>(static_cast<std::byte*>(c.workspace.data) + cameras_bytes(c.instance)), blocks_of(a.n),
      a.views, view_entries);
  for_blocks("splat.project_gradient", a.n, [&](std::int64_t block, std::int64_t begin, std::int64_t end) {
    k.gradient(a, cotangents, begin, end, to, &sums(block, 0, 0));
  });
  std::fill_n(project_data<float>(c.out[2]), c.out[2].type.numel().constant(), 0.0f);
  for (std::int64_t view = 0; view < a.views; ++view)
    for (std::int64_t e = 0; e < view_entries; ++e) {
      double total = 0;  // In the order of the blocks.
      for (std::int64_t block = 0; block < blocks_of(a.n); ++block) total += sums(block, view, e);
      project_data<float>(c.out[2])[16 * a.images[view] + e] = static_cast<float>(total);
    }
}

}  // namespace rlx::splat::cpu

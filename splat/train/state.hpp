// What a run of training carries from step to step: parameters, the moments of Adam, statistics for densification.
#pragma once
#include <rlx/formats/gaussian_cloud.hpp>
#include <rlx/tensor.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace rlx::splat::train {

/// Groups of parameters, each with a rate of its own. The first six have a row for each Gaussian, in places up to
/// `capacity`; the last two have one for each view.
enum Group : std::size_t { means, quats, scales, opacities, colours, harmonics, poses, exposures, groups };
constexpr std::size_t scene_groups = poses;
inline constexpr const char* group_names[groups] = {"means",   "quats",     "scales", "opacities",
                                                    "colours", "harmonics", "poses",  "exposures"};

/// Of each Gaussian since the last densification, [capacity].
enum Statistic : std::size_t {
  gradients,  ///< Sum of the lengths of its gradients in the image, in units of half an image.
  sights,     ///< Steps in which it was seen.
  radii,      ///< Its largest radius, of the larger side of the image.
  statistics
};
inline constexpr const char* statistic_names[statistics] = {"gradients", "sights", "radii"};

/// f32. Rows from `count` on are zero and take no part.
struct State {
  std::int64_t step = 0;                                 ///< Done.
  std::int64_t count = 0;                                ///< Gaussians.
  std::array<HostTensor, groups> values, first, second;  ///< Parameters before activation, moments.
  std::array<HostTensor, statistics> statistic;
  HostTensor visits;  ///< [views]: steps that looked at each.

  std::int64_t capacity() const { return values[means].shape()[0]; }

  static constexpr std::size_t leaf_count = 3 * groups + statistics + 1;
  Tensors leaves() const;
  Tensors take_leaves();  ///< Leaves nothing here, so that a program they are donated to need not copy them.
  void set_leaves(std::span<const Tensor> leaves);
};

/// Places for a count: of few sizes, each half as large again as the one before.
std::int64_t capacity_for(std::int64_t count);

State make_state(const formats::GaussianCloud& cloud, std::int64_t views);
formats::GaussianCloud cloud_of(const State& s);
/// The Gaussians at `rows` in that order, moments and statistics with them. The capacity grows where it must.
void select_rows(State& s, std::span<const std::int64_t> rows);
/// The same, but without moments for places from `fresh_from` on.
void select_rows(State& s, std::span<const std::int64_t> rows, std::int64_t fresh_from);
void clear_moments(State& s, Group group);
void clear_moments(State& s, std::int64_t row);
void clear_statistics(State& s);

}  // namespace rlx::splat::train

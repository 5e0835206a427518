// What a training may be told. Each struct lists its options once: what names them, in messages, in checkpoints and on
// the command line of `rlx splat train`, what they may be and what they mean. Checks, help, and the description that a
// checkpoint holds and compares follow from that.
#pragma once
#include <rlx/ir/attributes.hpp>
#include <rlx/ir/export.hpp>
#include <rlx/splat/attributes.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace rlx::splat {

/// How Gaussians come and go. adaptive: clone, split and prune by the gradients of means in the image, with resets of
/// opacity (Kerbl 2023). mcmc: a growing number up to a most, where dead ones are moved to live ones and noise explores
/// (Kheradmand 2024). fixed: the number stays.
enum class Densification : std::uint8_t { adaptive, mcmc, fixed };
inline std::span<const std::string_view> enum_names(Densification) {
  static constexpr std::string_view names[] = {"adaptive", "mcmc", "fixed"};
  return names;
}
enum class Start : std::uint8_t { points, random };
inline std::span<const std::string_view> enum_names(Start) {
  static constexpr std::string_view names[] = {"points", "random"};
  return names;
}

/// What a number may be: from least to most, an open end not itself. NaN and infinities never.
struct OptionRange {
  double least = 0, most = std::numeric_limits<double>::infinity();
  bool least_open = false, most_open = false;

  static constexpr OptionRange at_least(double x) { return {.least = x}; }
  static constexpr OptionRange above(double x) { return {.least = x, .least_open = true}; }
  static constexpr OptionRange from(double x, double y) { return {.least = x, .most = y}; }
  static constexpr OptionRange between(double x, double y) { return {x, y, true, true}; }
  static constexpr OptionRange share() { return {.least = 0, .most = 1, .least_open = true}; }

  constexpr bool holds(double x) const {
    return (least_open ? x > least : x >= least) && (most_open ? x < most : x <= most) &&
           x < std::numeric_limits<double>::infinity();
  }
  RLX_API std::string text() const;  ///< As it goes on after "number": "of at least 1", "above 0", "from 0 to 1".
};

/// What looks at an option.
enum class OptionUse : std::uint8_t { every_run, random_start, densification, adaptive, mcmc, poses, exposures };

struct OptionFacts {
  std::string_view flag{};  ///< Of `rlx splat train`; empty where another flag gives it.
  OptionRange range{};      ///< Of numbers.
  std::string_view doc{};   ///< Of a struct of options: its title.
  OptionUse use = OptionUse::every_run;
  bool automatic = false;  ///< -1, the default, stands for what the rest asks for.
};
template <class M>
struct Option {
  std::string_view name;
  M member;
  OptionFacts facts;
};
template <class M>
Option(std::string_view, M, OptionFacts) -> Option<M>;

/// Steps of Adam, in units of the property before its activation: logarithms of scales, logits of opacities.
struct TrainRates {
  double means = 1.6e-4, last_means = 1.6e-6;
  double quats = 1e-3, scales = 5e-3, opacities = 5e-2;
  double colours = 2.5e-3, harmonics = 2.5e-3 / 20;
  double poses = 1e-4, exposures = 1e-3;
  double last_share = 0.1;

  static constexpr auto fields = std::tuple{
      Option{"means",
             &TrainRates::means,
             {"--means-rate", OptionRange::above(0), "of means, in extents of the scene; at the first step"}},
      Option{"last_means",
             &TrainRates::last_means,
             {"--last-means-rate", OptionRange::above(0), "the same at the last step; it decays exponentially"}},
      Option{"quats", &TrainRates::quats, {"--rotation-rate", OptionRange::above(0), "of quaternions"}},
      Option{"scales", &TrainRates::scales, {"--scale-rate", OptionRange::above(0), "of logarithms of scales"}},
      Option{"opacities", &TrainRates::opacities, {"--opacity-rate", OptionRange::above(0), "of logits of opacities"}},
      Option{"colours", &TrainRates::colours, {"--colour-rate", OptionRange::above(0), "of harmonics of degree 0"}},
      Option{"harmonics",
             &TrainRates::harmonics,
             {"--harmonics-rate", OptionRange::above(0), "of harmonics of higher degrees"}},
      Option{"poses",
             &TrainRates::poses,
             {"--pose-rate", OptionRange::above(0), "of poses that are refined", OptionUse::poses}},
      Option{"exposures",
             &TrainRates::exposures,
             {"--exposure-rate", OptionRange::above(0), "of maps of colours that are learnt", OptionUse::exposures}},
      Option{"last_share",
             &TrainRates::last_share,
             {"--last-rate-share", OptionRange::share(),
              "what is left of the rates of rotations, scales, opacities and colours at the end: they decay "
              "exponentially over the second half of the steps, and with them the noise of steps that look at one view "
              "each; 1: they stay"}}};
};

struct AdaptiveOptions {
  double gradient = 2e-4;
  bool absolute = false;
  double split_scale = 0.01;
  double least_opacity = 5e-3;
  double largest_scale = 0.1, largest_radius = 0.15;
  std::int64_t reset_every = 3000;

  static constexpr auto fields = std::tuple{
      Option{"gradient",
             &AdaptiveOptions::gradient,
             {"--gradient", OptionRange::at_least(0),
              "mean gradient in the image from which on Gaussians are made, in units of half an image"}},
      Option{"absolute",
             &AdaptiveOptions::absolute,
             {"--absolute",
              {},
              "of the sums of magnitudes over pixels instead (Z. Ye et al., AbsGS, 2024); --gradient 8e-4 fits it"}},
      Option{"split_scale",
             &AdaptiveOptions::split_scale,
             {"--split-scale", OptionRange::at_least(0), "in extents: larger ones are split, the others cloned"}},
      Option{"least_opacity",
             &AdaptiveOptions::least_opacity,
             {"--prune-opacity", OptionRange::between(0, 0.5), "what is below is pruned"}},
      Option{"largest_scale",
             &AdaptiveOptions::largest_scale,
             {"--prune-scale", OptionRange::at_least(0),
              "in extents: after the first reset, what is larger is pruned; 0: nothing"}},
      Option{"largest_radius",
             &AdaptiveOptions::largest_radius,
             {"--prune-radius", OptionRange::at_least(0), "the same in the image, of its larger side; 0: nothing"}},
      Option{"reset_every",
             &AdaptiveOptions::reset_every,
             {"--reset-every", OptionRange::at_least(1),
              "steps after which opacities are set to twice --prune-opacity at most"}}};
};

struct McmcOptions {
  double growth = 1.05;
  double least_opacity = 5e-3;
  double noise = 5e5;

  static constexpr auto fields = std::tuple{
      Option{"growth",
             &McmcOptions::growth,
             {"--growth", OptionRange::at_least(1), "times the number of Gaussians, each time, up to --most"}},
      Option{"least_opacity",
             &McmcOptions::least_opacity,
             {"--dead-opacity", OptionRange::between(0, 0.5), "what is not above is dead, and moved"}},
      Option{"noise",
             &McmcOptions::noise,
             {"--noise", OptionRange::at_least(0), "by which means wander, times their rate"}}};
};

struct TrainOptions {
  std::int64_t steps = 30000;
  Densification densification = Densification::adaptive;
  Start start = Start::points;
  std::int64_t random_points = 10000;
  std::int64_t most = 1'000'000;
  int degree = 3;
  std::int64_t degree_every = 1000;
  double ssim = 0.2;
  double opacity_regularizer = -1, scale_regularizer = -1;
  RenderMode mode = RenderMode::classic;
  std::array<float, 3> background{};
  bool random_background = false;
  bool refine_poses = false;
  bool exposures = false;
  int hold_out_every = 8;
  std::uint64_t seed = 0;
  TrainRates rates{};
  std::int64_t refine_every = 100, refine_from = 500;
  std::int64_t refine_until = -1;
  AdaptiveOptions adaptive{};
  McmcOptions mcmc{};
  std::string device{};  ///< Empty: default_device(). No option: it says where a run is made, not what it makes.

  /// Those on which the -1 of others depends come before them, so that a run of other options is told of these.
  static constexpr auto fields = std::tuple{
      Option{"steps", &TrainOptions::steps, {"--steps", OptionRange::at_least(1), "how many, each of one image"}},
      Option{"densification",
             &TrainOptions::densification,
             {"--densify",
              {},
              "how Gaussians come and go: adaptive (clone, split, prune; Kerbl 2023), mcmc (relocate, add, noise; "
              "Kheradmand 2024) or fixed"}},
      Option{
          "start", &TrainOptions::start, {"--start", {}, "Gaussians begin at the points of the capture, or at random"}},
      Option{"random_points",
             &TrainOptions::random_points,
             {"--random-points", OptionRange::at_least(1), "Gaussians of a random start", OptionUse::random_start}},
      Option{"most", &TrainOptions::most, {"--most", OptionRange::at_least(1), "Gaussians at most"}},
      Option{"degree", &TrainOptions::degree, {"--degree", OptionRange::from(0, 4), "of spherical harmonics, 0 to 4"}},
      Option{"degree_every",
             &TrainOptions::degree_every,
             {"--degree-every", OptionRange::at_least(1), "steps after which the degree in use rises by one"}},
      Option{"ssim",
             &TrainOptions::ssim,
             {"--ssim", OptionRange::from(0, 1),
              "share of 1 - SSIM in the loss; the rest is the mean absolute difference"}},
      Option{"opacity_regularizer",
             &TrainOptions::opacity_regularizer,
             {.flag = "--opacity-regularizer",
              .doc = "times the mean opacity, added to the loss (default: 0; mcmc 0.01, as its authors do)",
              .automatic = true}},
      Option{"scale_regularizer",
             &TrainOptions::scale_regularizer,
             {.flag = "--scale-regularizer",
              .doc = "times the mean scale, added to the loss (default: 0; mcmc 0.01)",
              .automatic = true}},
      Option{"mode", &TrainOptions::mode, {"--mode", {}, "classic or antialiased"}},
      Option{"background", &TrainOptions::background, {"", OptionRange::from(0, 1), "behind the scene: r, g, b"}},
      Option{"random_background", &TrainOptions::random_background, {"", {}, "another colour each step"}},
      Option{"refine_poses",
             &TrainOptions::refine_poses,
             {"--refine-poses", {}, "also learn where the cameras of training views are"}},
      Option{"exposures",
             &TrainOptions::exposures,
             {"--exposures", {}, "also learn an affine map of colours for each training view"}},
      Option{"hold_out_every",
             &TrainOptions::hold_out_every,
             {"--hold-out", OptionRange::at_least(0),
              "views 0, N, 2 N, ... are not trained on, but kept for judging; 0: none"}},
      Option{"seed", &TrainOptions::seed, {"--seed", {}, "of random numbers"}},
      Option{"rates", &TrainOptions::rates, {.doc = "Rates of Adam"}},
      Option{"refine_every",
             &TrainOptions::refine_every,
             {"--refine-every", OptionRange::at_least(1), "steps between densifications", OptionUse::densification}},
      Option{"refine_from",
             &TrainOptions::refine_from,
             {"--refine-from", OptionRange::at_least(0), "steps before the first of them", OptionUse::densification}},
      Option{"refine_until",
             &TrainOptions::refine_until,
             {.flag = "--refine-until",
              .doc = "step before which the last of them is (default: half of all; mcmc five of six)",
              .use = OptionUse::densification,
              .automatic = true}},
      Option{"adaptive", &TrainOptions::adaptive, {.doc = "Densification adaptive", .use = OptionUse::adaptive}},
      Option{"mcmc", &TrainOptions::mcmc, {.doc = "Densification mcmc", .use = OptionUse::mcmc}}};
};

// An option that is not listed would not be checked, nor compared by a run that goes on, and nobody would know.
template <class S, std::size_t unlisted = 0>
constexpr bool all_listed = ::rlx::detail::member_count<S>() == std::tuple_size_v<decltype(S::fields)> + unlisted;
static_assert(all_listed<TrainRates> && all_listed<AdaptiveOptions> && all_listed<McmcOptions>);
static_assert(all_listed<TrainOptions, 1>, "all but the device are listed");

/// An option where a walk over all of them comes to it.
struct OptionAt {
  std::string name{};        ///< "rates.means"
  OptionFacts facts{};       ///< Its use is that of its struct where it has none of its own.
  std::string_view title{};  ///< Of its struct; empty in TrainOptions.
};

/// f(OptionAt, value) for each option in the order of the lists, those of structs within structs too.
template <class S, class F>
void for_each_option(S& options, const F& f, const OptionAt& within = {}) {
  const auto visit = [&](const auto& option) {
    auto& value = options.*option.member;
    OptionAt at{within.name + std::string(option.name), option.facts, within.facts.doc};
    if (at.facts.use == OptionUse::every_run) at.facts.use = within.facts.use;
    if constexpr (requires { std::remove_cvref_t<decltype(value)>::fields; }) {
      at.name += '.';
      for_each_option(value, f, at);
    } else {
      f(at, value);
    }
  };
  std::apply([&](const auto&... option) { (visit(option), ...); }, std::remove_const_t<S>::fields);
}

/// Whether a run of these options looks at it; and what would make it do so, "--densify adaptive".
RLX_API bool looked_at(OptionUse use, const TrainOptions& options);
RLX_API std::string_view needed_for(OptionUse use);

/// Throws ArgumentError, naming the option, its value and its range, for what is out of it.
RLX_API void check(const TrainOptions& options);

}  // namespace rlx::splat

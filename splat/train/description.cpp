#include "splat/train/description.hpp"

#include <rlx/ir/attributes.hpp>
#include <rlx/ir/error.hpp>

#include <cstring>
#include <ostream>
#include <sstream>
#include <tuple>

namespace rlx::splat::train {

namespace {

template <class S, class T>
struct Option {
  const char* name;
  T S::* member;
};
template <class S, class T>
Option(const char*, T S::*) -> Option<S, T>;

constexpr std::tuple rate_options{
    Option{"means", &TrainRates::means},         Option{"last_means", &TrainRates::last_means},
    Option{"quats", &TrainRates::quats},         Option{"scales", &TrainRates::scales},
    Option{"opacities", &TrainRates::opacities}, Option{"colours", &TrainRates::colours},
    Option{"harmonics", &TrainRates::harmonics}, Option{"last_share", &TrainRates::last_share},
    Option{"poses", &TrainRates::poses},         Option{"exposures", &TrainRates::exposures}};
constexpr std::tuple adaptive_options{Option{"gradient", &AdaptiveOptions::gradient},
                                      Option{"absolute", &AdaptiveOptions::absolute},
                                      Option{"split_scale", &AdaptiveOptions::split_scale},
                                      Option{"least_opacity", &AdaptiveOptions::least_opacity},
                                      Option{"largest_scale", &AdaptiveOptions::largest_scale},
                                      Option{"largest_radius", &AdaptiveOptions::largest_radius},
                                      Option{"reset_every", &AdaptiveOptions::reset_every}};
constexpr std::tuple mcmc_options{Option{"growth", &McmcOptions::growth},
                                  Option{"least_opacity", &McmcOptions::least_opacity},
                                  Option{"noise", &McmcOptions::noise}};
constexpr std::tuple train_options{Option{"steps", &TrainOptions::steps},
                                   Option{"degree", &TrainOptions::degree},
                                   Option{"degree_every", &TrainOptions::degree_every},
                                   Option{"ssim", &TrainOptions::ssim},
                                   Option{"opacity_regularizer", &TrainOptions::opacity_regularizer},
                                   Option{"scale_regularizer", &TrainOptions::scale_regularizer},
                                   Option{"mode", &TrainOptions::mode},
                                   Option{"background", &TrainOptions::background},
                                   Option{"random_background", &TrainOptions::random_background},
                                   Option{"rates", &TrainOptions::rates},
                                   Option{"start", &TrainOptions::start},
                                   Option{"random_points", &TrainOptions::random_points},
                                   Option{"densification", &TrainOptions::densification},
                                   Option{"most", &TrainOptions::most},
                                   Option{"refine_every", &TrainOptions::refine_every},
                                   Option{"refine_from", &TrainOptions::refine_from},
                                   Option{"refine_until", &TrainOptions::refine_until},
                                   Option{"adaptive", &TrainOptions::adaptive},
                                   Option{"mcmc", &TrainOptions::mcmc},
                                   Option{"refine_poses", &TrainOptions::refine_poses},
                                   Option{"exposures", &TrainOptions::exposures},
                                   Option{"hold_out_every", &TrainOptions::hold_out_every},
                                   Option{"seed", &TrainOptions::seed}};

constexpr const auto& options_in(const TrainRates&) { return rate_options; }
constexpr const auto& options_in(const AdaptiveOptions&) { return adaptive_options; }
constexpr const auto& options_in(const McmcOptions&) { return mcmc_options; }
constexpr const auto& options_in(const TrainOptions&) { return train_options; }

// An option that is not described would be another one in a run that goes on, and nobody would know.
template <class S, std::size_t left_out = 0>
constexpr bool all_described =
    detail::member_count<S>() == std::tuple_size_v<std::remove_cvref_t<decltype(options_in(S{}))>> + left_out;
static_assert(all_described<TrainRates>, "an option of TrainRates has no place in rate_options");
static_assert(all_described<AdaptiveOptions>, "an option of AdaptiveOptions has no place in adaptive_options");
static_assert(all_described<McmcOptions>, "an option of McmcOptions has no place in mcmc_options");
static_assert(all_described<TrainOptions, 1>, "an option of TrainOptions but the device has no place in train_options");

class Description {
 public:
  Description() { out_.precision(17); }
  std::string text() const { return out_.str(); }

  template <class S>
  void options(const S& s, const std::string& prefix = {}) {
    std::apply([&](const auto&... o) { (add(prefix + o.name, s.*o.member), ...); }, options_in(s));
  }
  template <class T>
  void add(const std::string& name, const T& value) {
    if constexpr (requires { options_in(value); }) options(value, name + ".");
    else if constexpr (requires { value.begin(); })
      for (const auto x : value) add(name, x);
    else if constexpr (std::is_enum_v<T>) add(name, static_cast<int>(value));
    else out_ << name << " = " << value << "\n";
  }

 private:
  std::ostringstream out_;
};

std::uint64_t hash_of(const Capture& c) {
  std::uint64_t hash = first_hash;
  const auto number = [&](double x) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    hash = mixed(hash, bits);
  };
  for (std::size_t i = 0; i < c.size(); ++i) {
    for (const char x : c.pose(i).name) hash = mixed(hash, static_cast<unsigned char>(x));
    for (const std::int64_t size : c.images[i].shape()) hash = mixed(hash, static_cast<std::uint64_t>(size));
    for (const double x : c.camera(i).parameters) number(x);
    for (const double x : c.pose(i).rotation) number(x);
    for (const double x : c.pose(i).translation) number(x);
    hash = mixed(hash, c.images[i].content_hash());
  }
  const formats::SparsePoints& points = c.reconstruction.points;
  return mixed(mixed(hash, points.positions.content_hash()), points.colours.content_hash());
}

}  // namespace

std::string description_of(const TrainOptions& resolved, const Capture& capture) {
  Description d;
  d.options(resolved);
  d.add("views", capture.size());
  d.add("capture", hash_of(capture));
  return d.text();
}

void compare_descriptions(const std::string& path, const std::string& stored, const std::string& wanted) {
  std::istringstream a(stored), b(wanted);
  for (std::string x, y;;) {
    const bool more_a = static_cast<bool>(std::getline(a, x)), more_b = static_cast<bool>(std::getline(b, y));
    if (!more_a && !more_b) return;
    if (!more_a) x = "nothing";
    if (!more_b) y = "nothing";
    if (x != y) throw ArgumentError(path + " is a checkpoint of another run: it has " + x + ", expected " + y);
  }
}

}  // namespace rlx::splat::train

#include "splat/train/options.hpp"

#include <rlx/ir/error.hpp>

namespace rlx::splat {

using train::value_text;

std::string OptionRange::text() const {
  const bool limited = most < std::numeric_limits<double>::infinity();
  if (limited && !least_open && !most_open) return "from " + value_text(least) + " to " + value_text(most);
  const std::string text = (least_open ? "above " : "of at least ") + value_text(least);
  return limited ? text + (most_open ? " and below " : " and at most ") + value_text(most) : text;
}

bool looked_at(OptionUse use, const TrainOptions& o) {
  switch (use) {
    case OptionUse::every_run:
      break;
    case OptionUse::random_start:
      return o.start == Start::random;
    case OptionUse::densification:
      return o.densification != Densification::fixed;
    case OptionUse::adaptive:
      return o.densification == Densification::adaptive;
    case OptionUse::mcmc:
      return o.densification == Densification::mcmc;
    case OptionUse::poses:
      return o.refine_poses;
    case OptionUse::exposures:
      return o.exposures;
  }
  return true;
}

std::string_view needed_for(OptionUse use) {
  static constexpr std::string_view flags[] = {"every run",          "--start random", "--densify adaptive and mcmc",
                                               "--densify adaptive", "--densify mcmc", "--refine-poses",
                                               "--exposures"};
  return flags[static_cast<std::size_t>(use)];
}

namespace {

/// An ArgumentError where one of the values that an option has is none that it may have.
template <class T>
void check_value(const OptionAt& at, const T& value) {
  const auto require = [&](bool holds, const std::string& expected) {
    if (!holds) throw ArgumentError("training: " + at.name + " is " + expected);
  };
  if constexpr (std::is_enum_v<T>) {
    const auto number = static_cast<std::size_t>(value);
    require(number < enum_names(T{}).size(), std::to_string(number) + ", which is no value of it");
  } else if constexpr (requires { value.begin(); }) {
    for (const auto x : value) check_value(at, x);
  } else if constexpr (!std::is_same_v<T, bool>) {
    const auto x = static_cast<double>(value);
    require(at.facts.range.holds(x) || (at.facts.automatic && x == -1),
            value_text(value) + ", not a " + (std::is_integral_v<T> ? "whole number " : "number ") +
                at.facts.range.text() + (at.facts.automatic ? ", or -1" : ""));
  }
}

}  // namespace

void check(const TrainOptions& o) {
  for_each_option(o, [](const OptionAt& at, const auto& value) { check_value(at, value); });
}

namespace train {

TrainOptions resolved(TrainOptions o) {
  const bool mcmc = o.densification == Densification::mcmc;
  if (o.refine_until < 0) o.refine_until = mcmc ? o.steps * 5 / 6 : o.steps / 2;
  for (double* weight : {&o.opacity_regularizer, &o.scale_regularizer})
    if (*weight < 0) *weight = mcmc ? 0.01 : 0;
  return o;
}

}  // namespace train
}  // namespace rlx::splat

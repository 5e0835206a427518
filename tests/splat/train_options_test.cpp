// The table of options, of which checks, checkpoints and the command line are made: what it refuses, and that a run
// tells each option of another one apart.
#include "training.hpp"

#include <rlx/ir/error.hpp>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "splat/train/description.hpp"
#include "splat/train/options.hpp"

namespace rlx::splat::testing {
namespace {

/// f(at, value) may change the value, and what it sees of the others are the defaults.
template <class F>
void for_each_alone(const F& f) {
  TrainOptions o;
  for_each_option(o, [&]<class T>(const OptionAt& at, T& value) {
    const T before = value;
    f(o, at, value);
    value = before;
  });
}

template <class T>
constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// What a number is not, by its range.
template <class T>
std::vector<T> values_outside(const OptionFacts& facts) {
  const OptionRange& r = facts.range;
  std::vector<T> bad;
  if (std::is_signed_v<T>) bad.push_back(static_cast<T>(r.least - (facts.automatic ? 2 : 1)));
  if (r.least_open) bad.push_back(static_cast<T>(r.least));
  if (std::isfinite(r.most)) bad.push_back(static_cast<T>(r.most + 1));
  if (r.most_open) bad.push_back(static_cast<T>(r.most));
  if (std::is_floating_point_v<T>)
    for (const double x : {std::nan(""), std::numeric_limits<double>::infinity()}) bad.push_back(static_cast<T>(x));
  return bad;
}

TEST(TrainOptions, WhatIsOutOfItsRangeIsRefusedByName) {
  check(TrainOptions{});
  int refused = 0;
  for_each_alone([&]<class T>(const TrainOptions& o, const OptionAt& at, T& value) {
    if constexpr (is_number<T>)
      for (const T bad : values_outside<T>(at.facts)) {
        value = bad;
        try {
          check(o);
          ADD_FAILURE() << at.name << " = " << bad << " was taken";
        } catch (const ArgumentError& e) {
          const std::string says = "training: " + at.name + " is " + train::value_text(bad) + ", not a ";
          EXPECT_EQ(std::string(e.what()).find(says), 0u) << e.what();
          EXPECT_NE(std::string(e.what()).find(at.facts.range.text()), std::string::npos) << e.what();
          ++refused;
        }
      }
  });
  EXPECT_GT(refused, 80);
  TrainOptions o;
  o.background[1] = 1.5f;
  EXPECT_THROW(check(o), ArgumentError);
  o = {};
  o.densification = static_cast<Densification>(7);
  EXPECT_THROW(check(o), ArgumentError);
}

TEST(TrainOptions, RangesAreSaidAsTheyAre) {
  EXPECT_EQ(OptionRange::at_least(1).text(), "of at least 1");
  EXPECT_EQ(OptionRange::above(0).text(), "above 0");
  EXPECT_EQ(OptionRange::from(0, 4).text(), "from 0 to 4");
  EXPECT_EQ(OptionRange::between(0, 0.5).text(), "above 0 and below 0.5");
  EXPECT_EQ(OptionRange::share().text(), "above 0 and at most 1");
  EXPECT_TRUE(OptionRange::share().holds(1));
  EXPECT_FALSE(OptionRange::share().holds(0));
}

TEST(TrainOptions, ARunOfAnotherOptionIsToldOfIt) {
  const Capture capture = small_capture();
  const std::string usual = train::description_of(train::resolved({}), capture);
  train::compare_descriptions("file", usual, usual);
  int compared = 0;
  for_each_alone([&]<class T>(const TrainOptions& o, const OptionAt& at, T& value) {
    if constexpr (requires { value.begin(); }) value[2] = 0.5f;
    else if constexpr (std::is_enum_v<T>) value = static_cast<T>(1);
    else if constexpr (std::is_same_v<T, bool>) value = !value;
    else value = static_cast<T>(value < 0 ? 7 : value + 1);
    try {
      train::compare_descriptions("file", usual, train::description_of(train::resolved(o), capture));
      ADD_FAILURE() << at.name << " is not compared";
    } catch (const ArgumentError& e) {
      EXPECT_EQ(std::string(e.what()).find("file is a checkpoint of another run: it has " + at.name + " = "), 0u)
          << e.what();
      ++compared;
    }
  });
  EXPECT_GT(compared, 35);
  TrainOptions o;
  o.densification = Densification::mcmc;
  EXPECT_NE(train::description_of(train::resolved(o), capture).find("\ndensification = mcmc\n"), std::string::npos);
}

TEST(TrainOptions, EachHasAFlagOfItsOwn) {
  std::set<std::string> flags, names;
  for_each_alone([&](const TrainOptions&, const OptionAt& at, const auto&) {
    EXPECT_TRUE(names.insert(at.name).second) << at.name;
    if (at.name == "background" || at.name == "random_background") return;  // Of one flag, --background.
    EXPECT_TRUE(at.facts.flag.starts_with("--") && flags.insert(std::string(at.facts.flag)).second) << at.name;
    EXPECT_FALSE(at.facts.doc.empty()) << at.name;
  });
}

TEST(TrainOptions, WhatNoRunLooksAtIsKnown) {
  TrainOptions o;
  EXPECT_TRUE(looked_at(OptionUse::every_run, o) && looked_at(OptionUse::adaptive, o));
  for (const OptionUse use : {OptionUse::random_start, OptionUse::mcmc, OptionUse::poses, OptionUse::exposures})
    EXPECT_FALSE(looked_at(use, o)) << needed_for(use);
  o.start = Start::random;
  o.densification = Densification::mcmc;
  o.refine_poses = o.exposures = true;
  for (const OptionUse use :
       {OptionUse::random_start, OptionUse::densification, OptionUse::mcmc, OptionUse::poses, OptionUse::exposures})
    EXPECT_TRUE(looked_at(use, o)) << needed_for(use);
  EXPECT_FALSE(looked_at(OptionUse::adaptive, o));
}

}  // namespace
}  // namespace rlx::splat::testing

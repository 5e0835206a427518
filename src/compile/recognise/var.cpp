// Mean square deviation from the mean, over the count less a correction: one that is written out, or less which a
// constant is.
#include "compile/recognise/pattern.hpp"

#include <rlx/ops/attributes/reduction.hpp>

#include <cmath>
#include <set>

namespace rlx::compile {

static std::vector<Candidate> var_candidates(const Above& above) {
  constexpr double most = 64;  // Corrections are 0 and 1, seldom 2; more are not looked for.
  std::vector<Candidate> out;
  const std::vector<Reduced> reductions = above.reductions();
  if (reductions.empty()) return out;
  const std::vector<double> scalars = above.scalars();
  for (const Reduced& r : reductions) {
    const std::optional<std::int64_t> n = count_along(r.x.shape, r.axes);
    std::set<std::int64_t> corrections{0};
    const auto add = [&](double c) {
      if (c == std::floor(c) && std::abs(c) <= most) corrections.insert(static_cast<std::int64_t>(c));
    };
    for (double c : scalars) {
      add(c);
      if (n) add(static_cast<double>(*n) - c);
    }
    for (std::int64_t c : corrections) {
      ops::VarAttrs a;
      a.axes = r.axes;
      a.keep = r.keep;
      a.correction = c;
      out.push_back({a, {r.x}});
    }
  }
  return out;
}

extern const Pattern var_pattern{"var", "var", quotient_roots, var_candidates};

}  // namespace rlx::compile

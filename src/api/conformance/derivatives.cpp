// Gradients against central differences of the host reference, and forward against reverse mode. Both look along random
// directions: a Jacobian that is wrong in any element is wrong along almost all of them. Of several operands each is
// looked at alone besides.
#include "api/conformance/checks.hpp"
#include "api/conformance/compare.hpp"
#include "api/conformance/index_watch.hpp"
#include "api/conformance/vectors.hpp"

#include <rlx/transform/jvp.hpp>
#include <rlx/transform/vjp.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace rlx::conformance {

namespace {

// An instance with what is differentiated: which operands and results, a cotangent for each of the latter.
struct Problem {
  const Instance& instance;
  std::vector<bool> wanted, useful;
  bool in_range;            // No index that the instance looks at is out of range.
  HostValues cotangents{};  // of useful results, in order
  HostValues tangents{};    // of wanted operands, in order
  bool empty() const {
    return std::find(wanted.begin(), wanted.end(), true) == wanted.end() ||
           std::find(useful.begin(), useful.end(), true) == useful.end();
  }
};

enum Seed : std::size_t { cotangent_seed = 1000, tangent_seed = 2000, direction_seed = 3000 };

Problem problem_of(const Expected& e, const Registry& registry) {
  const Instance& i = *e.instance;
  Problem p{i, {}, {}, stays_in_range(i, i.in, registry)};
  for (std::size_t k = 0; k < i.in.size(); ++k) {
    p.wanted.push_back(i.inputs[k].differentiable && is_smooth(i.inputs[k].type) && all_finite(i.in[k]));
    if (p.wanted[k]) p.tangents.push_back(random_like(i.in[k], seed_of(i.op->name(), i.index, k, tangent_seed)));
  }
  for (std::size_t k = 0; k < e.values.size(); ++k) {
    p.useful.push_back(is_smooth(type_of(e.values[k])) && all_finite(e.values[k]));
    if (p.useful[k])
      p.cotangents.push_back(random_like(e.values[k], seed_of(i.op->name(), i.index, k, cotangent_seed)));
  }
  return p;
}

double sum_inner(const HostValues& x, const HostValues& y, double (*f)(const HostValue&, const HostValue&)) {
  double sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += f(x[k], y[k]);
  return sum;
}

HostValues useful_results(const Problem& p, const HostValues& in, const Registry& registry) {
  HostValues all = evaluate(p.instance.graph, registry, in), out;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (p.useful[k]) out.push_back(std::move(all[k]));
  return out;
}

// Fourth-order central difference of <cotangents, f> with step h, and the size of what was subtracted.
struct Slope {
  double value, size;
};
Slope slope(const Problem& p, std::size_t operand, const HostValue& v, double h, const Registry& registry) {
  constexpr std::array<double, 4> places{-2, -1, 1, 2}, weights{1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
  Slope s{0, 0};
  for (std::size_t k = 0; k < places.size(); ++k) {
    HostValues in = p.instance.in;
    in[operand] = moved(in[operand], places[k] * h, v);
    const HostValues y = useful_results(p, in, registry);
    s.value += weights[k] * sum_inner(p.cotangents, y, inner) / h;
    s.size = std::max(s.size, sum_inner(p.cotangents, y, magnitude));
  }
  return s;
}

// Empty where the gradient agrees with differences for some step: a large one near a kink, or a small one where the
// function is rough, is wrong for a right gradient, but none is right for a wrong one.
std::string along(const Problem& p, std::size_t operand, const HostValue& gradient, const HostValue& v,
                  const Registry& registry) {
  const double got = inner(gradient, v);
  std::string what;
  for (const double h : {1e-3, 1e-4, 1e-5}) {
    const Slope s = slope(p, operand, v, h, registry);
    const double scale = std::max(magnitude(gradient, v), std::abs(s.value));
    if (std::abs(got - s.value) <= 1e-6 * scale + 64 * 0x1p-52 * s.size / h) return {};
    char text[120];
    std::snprintf(text, sizeof text, "operand %zu: the gradient along a direction is %.12g, differences give %.12g",
                  operand, got, s.value);
    if (what.empty()) what = text;
  }
  return what;
}

HostValues pulled(const Problem& p, const Registry& registry) {
  const Graph g = transform::vjp(p.instance.graph, registry, {p.wanted, p.useful, false});
  HostValues in = p.instance.in;
  in.insert(in.end(), p.cotangents.begin(), p.cotangents.end());
  HostValues out = evaluate_made(g, in, p.in_range, registry);
  std::erase_if(out, [](const HostValue& v) { return std::holds_alternative<HostToken>(v); });
  return out;
}

HostValues pushed(const Problem& p, const Registry& registry) {
  const Graph g = transform::jvp(p.instance.graph, registry, {p.wanted, false});
  HostValues in = p.instance.in;
  in.insert(in.end(), p.tangents.begin(), p.tangents.end());
  HostValues all = evaluate_made(g, in, p.in_range, registry), out;
  for (std::size_t k = 0; k < p.useful.size(); ++k) {
    const auto at = std::find(g.output_names.begin(), g.output_names.end(), "t_y" + std::to_string(k));
    if (p.useful[k]) out.push_back(all.at(static_cast<std::size_t>(at - g.output_names.begin())));
  }
  return out;
}

std::string gradient_differs(const Problem& p, const HostValues& gradients, int directions, const Registry& registry) {
  const Instance& i = p.instance;
  std::size_t next = 0;
  for (std::size_t k = 0; k < p.wanted.size(); ++k) {
    if (!p.wanted[k]) continue;
    const HostValue& gradient = gradients.at(next++);
    if (!(type_of(gradient) == type_of(i.in[k])))
      return "operand " + std::to_string(k) + ": the gradient is " + to_string(type_of(gradient)) + ", the operand " +
             to_string(type_of(i.in[k]));
    for (int d = 0; d < directions; ++d) {
      const HostValue v =
          random_like(i.in[k], seed_of(i.op->name(), i.index, k, direction_seed + static_cast<std::size_t>(d)));
      if (auto what = along(p, k, gradient, v, registry); !what.empty()) return what;
    }
  }
  return {};
}

std::string adjoint_differs(const Problem& p, const HostValues& gradients, const HostValues& images) {
  const double forward = sum_inner(p.cotangents, images, inner), reverse = sum_inner(gradients, p.tangents, inner);
  const double scale = sum_inner(p.cotangents, images, magnitude) + sum_inner(gradients, p.tangents, magnitude);
  if (std::abs(forward - reverse) <= 1e-10 * scale) return {};
  char text[120];
  std::snprintf(text, sizeof text, "<u, Jv> is %.15g, <J^T u, v> is %.15g", forward, reverse);
  return text;
}

// The problem of which only operand `k` is wanted and moved; `nth` is its place among those that are.
Problem alone(const Problem& p, std::size_t k, std::size_t nth) {
  Problem one{p.instance, std::vector<bool>(p.wanted.size()), p.useful, p.in_range, p.cotangents, {p.tangents.at(nth)}};
  one.wanted[k] = true;
  return one;
}

// What is not wanted is not formed, and an absent tangent is zero: neither changes anything else.
template <class Differs>
std::string each_alone(const Problem& p, const HostValues& gradients, const Differs& differs) {
  if (gradients.size() < 2) return {};
  for (std::size_t k = 0, nth = 0; k < p.wanted.size(); ++k) {
    if (!p.wanted[k]) continue;
    if (auto d = differs(alone(p, k, nth), HostValues{gradients[nth]}); !d.empty())
      return "operand " + std::to_string(k) + " alone: " + d;
    ++nth;
  }
  return {};
}

std::string gradient_alone_differs(const Problem& p, const HostValues& gradients, const Registry& registry) {
  SampleBase close;
  close.rtol = 1e-12;  // The same formula, of which rounding may differ where terms were shared.
  return each_alone(p, gradients, [&](const Problem& one, const HostValues& gradient) {
    return difference(pulled(one, registry), gradient, close);
  });
}

std::string tangent_alone_differs(const Problem& p, const HostValues& gradients, const Registry& registry) {
  return each_alone(p, gradients, [&](const Problem& one, const HostValues& gradient) {
    return adjoint_differs(one, gradient, pushed(one, registry));
  });
}

void check_one(const Problem& p, Collector& out) {
  const Registry& registry = out.registry();
  const CaseOf gradient = case_of(p.instance, "gradient", out.device()),
               adjoint = case_of(p.instance, "adjoint", out.device());
  HostValues gradients;
  bool differentiated = false;
  out.guarded(gradient, [&] {
    try {
      gradients = pulled(p, registry);
      differentiated = true;
    } catch (const VerifyError& e) { return out.rule_refused(gradient, "vjp", p.instance.op->vjp_rule(), e); }
    std::string what = gradient_differs(p, gradients, out.options().full ? 8 : 2, registry);
    out.judge(gradient, what.empty() ? gradient_alone_differs(p, gradients, registry) : std::move(what));
  });
  if (!differentiated) return;
  out.guarded(adjoint, [&] {
    HostValues images;
    try {
      images = pushed(p, registry);
    } catch (const VerifyError& e) { return out.rule_refused(adjoint, "jvp", p.instance.op->jvp_rule(), e); }
    std::string what = adjoint_differs(p, gradients, images);
    out.judge(adjoint, what.empty() ? tangent_alone_differs(p, gradients, registry) : std::move(what));
  });
}

}  // namespace

void check_derivatives(std::span<const Expected> expected, Collector& out) {
  for (const Expected& e : expected) {
    if (!e.instance->sample.gradients) continue;
    if (const Problem p = problem_of(e, out.registry()); !p.empty()) check_one(p, out);
  }
}

}  // namespace rlx::conformance

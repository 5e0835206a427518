// Batching equals a loop: the batched graph on stacked operands against the graph on each member.
#include "api/conformance/checks.hpp"
#include "api/conformance/compare.hpp"
#include "api/conformance/fill.hpp"
#include "api/conformance/index_watch.hpp"
#include "api/conformance/pieces.hpp"

#include <rlx/transform/vmap.hpp>

#include <algorithm>

namespace rlx::conformance {

namespace {

constexpr std::size_t members = 3;
using Axes = std::vector<int>;

HostTensor stacked(const std::vector<HostTensor>& all, int axis) {
  std::vector<HostTensor> slabs;
  for (const HostTensor& one : all) {
    std::vector<std::int64_t> shape = one.shape();
    shape.insert(shape.begin() + axis, 1);
    slabs.push_back(one.reshaped(std::move(shape)));
  }
  return joined(slabs, axis);
}

HostTensor member(const HostTensor& all, std::int64_t m) {
  return piece_of(all, 0, m, m + 1).reshaped({all.shape().begin() + 1, all.shape().end()});
}

/// All tensors along a new first dimension; the same without literals, which may be identities that cannot differ; each
/// tensor alone along a new last dimension. `full` adds each alone along the first.
std::vector<Axes> variants(const Instance& i, bool full) {
  Axes all, tensors;
  for (std::size_t k = 0; k < i.in.size(); ++k) {
    const auto* t = std::get_if<HostTensor>(&i.in[k]);
    all.push_back(t ? 0 : -1);
    if (t) tensors.push_back(static_cast<int>(k));
  }
  std::vector<Axes> out;
  if (tensors.empty()) return out;
  out.push_back(all);
  Axes made = all;
  for (std::size_t k = 0; k < made.size(); ++k)
    if (!i.inputs[k].literal.empty()) made[k] = -1;
  if (made != all && std::any_of(made.begin(), made.end(), [](int a) { return a >= 0; }))
    out.push_back(std::move(made));
  for (int k : tensors) {
    Axes one(i.in.size(), -1);
    one[static_cast<std::size_t>(k)] = std::get<HostTensor>(i.in[static_cast<std::size_t>(k)]).rank();
    out.push_back(one);
    if (full && one[static_cast<std::size_t>(k)] > 0) {
      one[static_cast<std::size_t>(k)] = 0;
      out.push_back(one);
    }
  }
  return out;
}

std::string text_of_axes(const Axes& axes) {
  std::string s;
  for (int a : axes) s += (s.empty() ? "" : ",") + (a < 0 ? "-" : std::to_string(a));
  return "axes (" + s + ")";
}

// What the batched graph gives against what each member gives; "" where they agree.
std::string batched_differs(const Instance& i, const Axes& axes, const Registry& registry) {
  const Graph g = transform::vmap(i.graph, registry, {axes, {}, static_cast<std::int64_t>(members)});
  std::vector<HostValues> each(members, i.in);
  HostValues together = i.in;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (axes[k] < 0) continue;
    std::vector<HostTensor> parts;
    for (std::size_t m = 0; m < members; ++m) {
      each[m][k] = filled(i.inputs[k], seed_of(i.op->name(), i.index, k, m));  // literals are the same in all members
      parts.push_back(std::get<HostTensor>(each[m][k]));
    }
    together[k] = stacked(parts, axes[k]);
  }
  const bool in_range =
      std::all_of(each.begin(), each.end(), [&](const HostValues& in) { return stays_in_range(i, in, registry); });
  const HostValues got = evaluate_made(g, together, in_range, registry);
  for (std::size_t m = 0; m < members; ++m) {
    HostValues one;
    for (const HostValue& v : got)
      if (const auto* t = std::get_if<HostTensor>(&v)) one.push_back(member(*t, static_cast<std::int64_t>(m)));
      else one.push_back(v);  // A token, the same for all members.
    if (auto d = difference(one, evaluate(i.graph, registry, each[m]), i.sample); !d.empty())
      return text_of_axes(axes) + ", member " + std::to_string(m) + ": " + d;
  }
  return {};
}

bool can_be_batched(const HostValues& values) {
  return std::all_of(values.begin(), values.end(), [](const HostValue& v) {
    return std::holds_alternative<HostTensor>(v) || std::holds_alternative<HostToken>(v);
  });
}

void check_one(const Expected& e, Collector& out) {
  const Instance& i = *e.instance;
  const CaseOf c = case_of(i, "batch", out.device());
  std::size_t passed = 0;
  std::string refused;
  for (const Axes& axes : variants(i, out.options().full)) {
    try {
      if (auto d = batched_differs(i, axes, out.registry()); !d.empty())
        return out.add(c, Outcome::failed, std::move(d));
      ++passed;
    } catch (const VerifyError& v) {
      if (v.constraint() != "batch") return out.add(c, Outcome::failed, text_of_axes(axes) + ": " + text_of(v));
      if (i.op->batch_rule().kind == RuleKind::never && v.op() == i.op->name())
        return out.rule_refused(c, "batch", i.op->batch_rule(), v);
      refused += (refused.empty() ? "" : "; ") + text_of_axes(axes) + ": " + v.what();
    } catch (const std::exception& v) { return out.add(c, Outcome::failed, text_of_axes(axes) + ": " + text_of(v)); }
  }
  if (!passed && refused.empty()) return out.skip("batch: no operand is a tensor");
  out.add(c, passed ? Outcome::passed : Outcome::refused, std::move(refused));
}

}  // namespace

void check_batching(std::span<const Expected> expected, Collector& out) {
  for (const Expected& e : expected) {
    if (can_be_batched(e.values)) check_one(e, out);
    else out.skip("batch: a result that is no tensor has no batch dimension");
  }
}

}  // namespace rlx::conformance

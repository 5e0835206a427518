#include "compile/recognise/match.hpp"

#include "compile/recognise/constants.hpp"

#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes/shape.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace rlx::compile {
namespace {

bool is_one(const Dim& d) { return d.is_constant() && d.constant() == 1; }

Shape squeezed(const Shape& s) {
  Shape out;
  std::copy_if(s.begin(), s.end(), std::back_inserter(out), [](const Dim& d) { return !is_one(d); });
  return out;
}

const TensorType* plain_tensor(const Graph& g, ValueId v) {
  const auto* t = std::get_if<TensorType>(&g.type(v));
  return t && !t->quantization && !t->sharding && !t->layout ? t : nullptr;
}

/// A value that another is a view of: which of the other's dimensions each of its own is, both counted without those of
/// size 1.
struct Viewed {
  ValueId value;
  std::vector<int> dims;
};

// The operand that a node gives back as it is; -1: none. NaN goes through min and max.
int unchanged_operand(const Graph& g, const Node& n) {
  const std::string_view op = n.op->name();
  const bool extreme = op == "max" || op == "min", scale = op == "mul" || op == "div";
  if (!extreme && !scale && op != "sub") return -1;
  for (int i = 0; i < 2; ++i) {
    if (i == 0 && (op == "div" || op == "sub")) continue;
    const std::optional<HostTensor> one = uniform_value(g, n.operands[static_cast<std::size_t>(i)]);
    if (!one || !is_floating(one->dtype())) continue;
    const double v = one->get_f64(0);
    if (extreme ? v == (op == "max" ? -INFINITY : INFINITY) : scale ? v == 1 : v == 0 && !std::signbit(v)) return 1 - i;
  }
  return -1;
}

/// `v` and what it is a view of, from below upwards.
std::vector<Viewed> sources_of(const Graph& g, ValueId v) {
  std::vector<Viewed> out;
  const TensorType* t = plain_tensor(g, v);
  if (!t) return out;
  std::vector<int> dims(squeezed(t->shape).size());
  for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = static_cast<int>(i);
  out.push_back({v, dims});
  for (NodeId id = g.value(v).node; id >= 0; id = g.value(v).node) {
    const Node& n = g.node(id);
    const auto* broadcast = n.op->name() == "broadcast" ? &n.attrs.as<ops::BroadcastAttrs>() : nullptr;
    int operand = 0;
    if (!broadcast && n.op->name() != "reshape" && (operand = unchanged_operand(g, n)) < 0) break;
    const ValueId up = n.operands[static_cast<std::size_t>(operand)];
    const TensorType *to = plain_tensor(g, v), *from = plain_tensor(g, up);
    if (!from) break;
    if (broadcast) {
      std::vector<int> place(to->shape.size(), -1);  // Of each dimension of the result, counted without those of 1.
      int count = 0;
      for (std::size_t d = 0; d < to->shape.size(); ++d)
        if (!is_one(to->shape[d])) place[d] = count++;
      std::vector<int> up_dims;
      for (std::size_t d = 0; d < from->shape.size(); ++d)
        if (!is_one(from->shape[d]))
          up_dims.push_back(dims[static_cast<std::size_t>(place[static_cast<std::size_t>(broadcast->axes[d])])]);
      dims = std::move(up_dims);
    } else if (squeezed(from->shape) != squeezed(to->shape)) {
      break;
    }
    v = up;
    out.push_back({v, dims});
  }
  return out;
}

bool commutes(std::string_view op) {
  return op == "add" || op == "mul" || op == "max" || op == "min" || op == "and" || op == "or" || op == "xor";
}

// By name: the graph may have been built with another registry than the one that it is compiled with.
bool same_operator(const Node& a, const Node& b) {
  return a.op->name() == b.op->name() && a.operands.size() == b.operands.size() && a.attrs == b.attrs;
}

class Matcher {
 public:
  Matcher(const Graph& pattern, const Graph& user, const std::function<bool(ValueId)>& may_be_operand)
      : p_(pattern), u_(user), may_be_operand_(may_be_operand), operands_(pattern.inputs().size(), -1) {}

  std::optional<std::vector<ValueId>> match(ValueId root) {
    const Goal goal{p_.outputs().front(), root, nullptr};
    if (!solve(&goal) || std::count(operands_.begin(), operands_.end(), -1)) return {};
    return operands_;
  }

 private:
  static constexpr int most_steps = 4096;  // Patterns have some twenty nodes; a search is as long where it succeeds.

  /// What is left to show: `u` is `p`, and then the rest.
  struct Goal {
    ValueId p, u;
    const Goal* rest;
  };

  bool solve(const Goal* todo) {
    if (!todo) return true;
    if (++steps_ > most_steps) return false;
    const auto [p, u, rest] = *todo;
    if (std::find(shown_.begin(), shown_.end(), std::pair(p, u)) != shown_.end()) return solve(rest);
    const TensorType *tp = plain_tensor(p_, p), *tu = plain_tensor(u_, u);
    if (!tp || !tu || tp->dtype != tu->dtype || squeezed(tp->shape) != squeezed(tu->shape)) return false;
    const std::size_t mark = shown_.size();
    shown_.emplace_back(p, u);
    if (one_of_its_sources(p, u, rest)) return true;
    shown_.resize(mark);
    return false;
  }

  bool one_of_its_sources(ValueId p, ValueId u, const Goal* rest) {
    if (const std::optional<HostTensor> wanted = uniform_value(p_, p)) {
      const std::optional<HostTensor> there = uniform_value(u_, u);
      return there && wanted->identical(*there) && solve(rest);
    }
    const Viewed whole = sources_of(p_, p).back();
    const std::vector<Viewed> sources = sources_of(u_, u);
    // From above, so that an operand is what was there before anything that changes nothing.
    return std::any_of(sources.rbegin(), sources.rend(), [&](const Viewed& s) {
      return s.dims == whole.dims &&
             squeezed(p_.tensor_type(whole.value).shape) == squeezed(u_.tensor_type(s.value).shape) &&
             is_it(whole.value, s.value, rest);
    });
  }

  bool is_it(ValueId p, ValueId u, const Goal* rest) {
    const ValueInfo &pi = p_.value(p), &ui = u_.value(u);
    if (pi.node < 0) {
      ValueId& operand = operands_[static_cast<std::size_t>(pi.index)];
      if (operand >= 0) return operand == u && solve(rest);
      if (p_.type(p) != u_.type(u) || !may_be_operand_(u)) return false;
      operand = u;
      if (solve(rest)) return true;
      operand = -1;
      return false;
    }
    if (ui.node < 0 || pi.index != ui.index) return false;
    const Node &pn = p_.node(pi.node), &un = u_.node(ui.node);
    if (!same_operator(pn, un)) return false;
    if (!pn.op->has_trait(Trait::elementwise) && !alike(pn, un)) return false;
    if (all_operands(pn, un, {0, 1}, rest)) return true;
    return pn.operands.size() == 2 && commutes(pn.op->name()) && all_operands(pn, un, {1, 0}, rest);
  }

  // In the order `first` for the first two.
  bool all_operands(const Node& pn, const Node& un, std::pair<std::size_t, std::size_t> first, const Goal* rest) {
    std::vector<Goal> goals(pn.operands.size());
    for (std::size_t i = goals.size(); i-- > 0;) {
      const std::size_t j = i == 0 ? first.first : i == 1 ? first.second : i;
      goals[i] = {pn.operands[i], un.operands[j], rest};
      rest = &goals[i];
    }
    return solve(rest);
  }

  // Where dimensions are named by their place, types are the same, those of size 1 included.
  bool alike(const Node& pn, const Node& un) const {
    if (p_.types_of(pn.operands) != u_.types_of(un.operands) || p_.types_of(pn.results) != u_.types_of(un.results) ||
        pn.regions.size() != un.regions.size())
      return false;
    for (std::size_t i = 0; i < pn.regions.size(); ++i)
      if (!same_region(pn.regions[i], un.regions[i])) return false;
    return true;
  }

  bool same_region(RegionId pr, RegionId ur) const {
    const Region &a = p_.region(pr), &b = u_.region(ur);
    if (p_.types_of(a.arguments) != u_.types_of(b.arguments) || a.results.size() != b.results.size()) return false;
    for (std::size_t i = 0; i < a.results.size(); ++i)
      if (!same_in_region(a.results[i], b.results[i], 0)) return false;
    return true;
  }
  // Scalar functions of a few nodes: a combination.
  bool same_in_region(ValueId p, ValueId u, int depth) const {
    const ValueInfo &pi = p_.value(p), &ui = u_.value(u);
    if (depth > 8 || pi.type != ui.type || pi.index != ui.index || (pi.node < 0) != (ui.node < 0)) return false;
    if (pi.node < 0) return true;
    const Node &pn = p_.node(pi.node), &un = u_.node(ui.node);
    if (!same_operator(pn, un) || !pn.regions.empty() || !un.regions.empty()) return false;
    const auto same = [&](std::size_t i, std::size_t j) {
      return same_in_region(pn.operands[i], un.operands[j], depth + 1);
    };
    if (pn.operands.size() == 2 && commutes(pn.op->name()) && same(0, 1) && same(1, 0)) return true;
    for (std::size_t i = 0; i < pn.operands.size(); ++i)
      if (!same(i, i)) return false;
    return true;
  }

  const Graph &p_, &u_;
  const std::function<bool(ValueId)>& may_be_operand_;
  std::vector<ValueId> operands_;
  std::vector<std::pair<ValueId, ValueId>> shown_;
  int steps_ = 0;
};

}  // namespace

std::optional<std::vector<ValueId>> match_graph(const Graph& pattern, const Graph& user, ValueId root,
                                                const std::function<bool(ValueId)>& may_be_operand) {
  return Matcher(pattern, user, may_be_operand).match(root);
}

}  // namespace rlx::compile

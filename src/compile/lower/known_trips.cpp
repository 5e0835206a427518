#include "compile/lower/known_trips.hpp"

#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes/control_flow.hpp>
#include <rlx/ops/attributes/elementwise.hpp>
#include <rlx/ops/attributes/source.hpp>

#include <algorithm>
#include <limits>

namespace rlx::compile {
namespace {

class Counting {
 public:
  Counting(const Graph& g, const Node& loop)
      : g_(g), loop_(loop), carried_(static_cast<std::size_t>(loop.attrs.as<ops::WhileAttrs>().carried)) {}

  std::optional<std::int64_t> trips() const {
    const Node* less = maker(condition().results[0], "compare");
    if (!less || less->attrs.as<ops::CompareAttrs>().direction != ops::Direction::lt) return std::nullopt;
    const auto state = state_of(condition(), less->operands[0]);
    const auto limit = constant(less->operands[1]);
    if (!state || !limit) return std::nullopt;
    const DType dtype = g_.tensor_type(less->operands[0]).dtype;
    if (dtype != DType::i64 && dtype != DType::i32) return std::nullopt;
    const auto start = constant(loop_.operands[*state]), step = step_of(*state);
    if (!start || !step || *step <= 0) return std::nullopt;
    // The value that ends the loop must not wrap around.
    const std::int64_t most =
        dtype == DType::i32 ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::int64_t>::max();
    std::int64_t distance = 0;
    if (*limit > most - (*step - 1) || __builtin_sub_overflow(*limit, *start, &distance)) return std::nullopt;
    return distance <= 0 ? 0 : (distance - 1) / *step + 1;
  }

 private:
  const Region& condition() const { return g_.region(loop_.regions[0]); }
  const Region& body() const { return g_.region(loop_.regions[1]); }

  const Node* maker(ValueId v, std::string_view op) const {
    const NodeId d = g_.value(v).node;
    return d >= 0 && g_.node(d).op->name() == op ? &g_.node(d) : nullptr;
  }

  /// Which state `v` is, as an argument of this region.
  std::optional<std::size_t> state_of(const Region& r, ValueId v) const {
    const auto it = std::find(r.arguments.begin(), r.arguments.end(), v);
    const auto i = static_cast<std::size_t>(it - r.arguments.begin());
    return i < carried_ ? std::optional(i) : std::nullopt;
  }

  /// What each trip adds to a state.
  std::optional<std::int64_t> step_of(std::size_t state) const {
    const Node* add = maker(body().results[state], "add");
    if (!add) return std::nullopt;
    for (const std::size_t i : {0u, 1u})
      if (add->operands[i] == body().arguments[state]) return constant(add->operands[1 - i]);
    return std::nullopt;
  }

  /// The value of a constant scalar, of this region, one around it, or handed in as an invariant.
  std::optional<std::int64_t> constant(ValueId v) const {
    for (const Region* r : {&condition(), &body()})
      if (const auto it = std::find(r->arguments.begin(), r->arguments.end(), v); it != r->arguments.end()) {
        const auto i = static_cast<std::size_t>(it - r->arguments.begin());
        if (i < carried_) return std::nullopt;
        v = loop_.operands[i];
      }
    const Node* c = maker(v, "constant");
    if (!c) return std::nullopt;
    const HostTensor& t = c->attrs.as<ops::ConstantAttrs>().value;
    return t.rank() == 0 ? std::optional(t.get_i64(0)) : std::nullopt;
  }

  const Graph& g_;
  const Node& loop_;
  const std::size_t carried_;
};

}  // namespace

std::optional<std::int64_t> known_trips(const Graph& mir, const Node& loop) {
  const std::optional<std::int64_t> trips = Counting(mir, loop).trips();
  const std::int64_t most = loop.attrs.as<ops::WhileAttrs>().max_trips;
  return trips && most >= 0 && *trips > most ? std::nullopt : trips;
}

}  // namespace rlx::compile

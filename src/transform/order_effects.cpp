#include "transform/order_effects.hpp"

#include <unordered_map>
#include <vector>

namespace rlx::transform {
namespace {

/// Of one region: which token each came from, and the last one of its chain.
class Chains {
 public:
  explicit Chains(const Graph& g) : g_(g) {}

  void to_last(std::vector<ValueId>& values) const {
    for (ValueId& v : values)
      if (is_token(v)) v = last(first(v));
  }
  void follow(Node& n) {
    std::vector<ValueId> taken;
    for (ValueId v : n.operands)
      if (is_token(v)) taken.push_back(first(v));
    to_last(n.operands);
    std::size_t i = 0;
    for (ValueId v : n.results)
      if (is_token(v) && i < taken.size()) first_[v] = taken[i], last_[taken[i]] = v, ++i;
  }

 private:
  bool is_token(ValueId v) const { return std::holds_alternative<TokenType>(g_.type(v)); }
  ValueId first(ValueId v) const {
    const auto it = first_.find(v);
    return it == first_.end() ? v : it->second;
  }
  ValueId last(ValueId v) const {
    const auto it = last_.find(v);
    return it == last_.end() ? v : it->second;
  }
  const Graph& g_;
  std::unordered_map<ValueId, ValueId> first_, last_;
};

}  // namespace

void order_effects(Graph& g) {
  for (RegionId r = 0; static_cast<std::size_t>(r) < g.region_count(); ++r) {
    Chains chains(g);
    for (NodeId id : g.region(r).nodes) chains.follow(g.node(id));
    chains.to_last(g.region(r).results);
  }
}

}  // namespace rlx::transform

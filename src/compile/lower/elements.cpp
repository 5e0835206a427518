#include "compile/lower/elements.hpp"

#include "compile/lower/element_rules.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <array>

namespace rlx::compile {

ElementRule element_rule(const Op& op) {
  if (op.has_trait(Trait::elementwise)) return elementwise_element;
  struct Row {
    std::string_view op;
    ElementRule rule;
  };
  static constexpr std::array<Row, 13> rows{{{"broadcast", broadcast_element},
                                             {"concat", concat_element},
                                             {"constant", constant_element},
                                             {"dim_size", dim_size_element},
                                             {"dynamic_slice", dynamic_slice_element},
                                             {"gather", gather_element},
                                             {"iota", iota_element},
                                             {"pad", pad_element},
                                             {"reshape", reshape_element},
                                             {"reverse", reverse_element},
                                             {"segment_reduce", segment_reduce_element},
                                             {"slice", slice_element},
                                             {"transpose", transpose_element}}};
  for (const Row& r : rows)
    if (r.op == op.name()) return r.rule;
  return nullptr;
}

Value Elements::load(Value buffer, const Index& i) { return b_.emit1("lir.load", {buffer, index_.emit(i)}); }

Value Elements::at(ValueId v, const Coordinates& c) {
  if (const auto it = bound_.find(v); it != bound_.end()) return it->second;
  const std::pair key{v, c};
  for (auto layer = memo_.rbegin(); layer != memo_.rend(); ++layer)
    if (const auto it = layer->find(key); it != layer->end()) return it->second;
  const Value x = compute(v, c);
  memo_.back().emplace(key, x);
  return x;
}

Value Elements::at_linear(ValueId v, const Index& i) {
  return at(v, flat_ ? Coordinates{i} : index_.coordinates(i, shape(v)));
}

Value Elements::compute(ValueId v, const Coordinates& c) {
  const auto own = stored_.find(v);
  if (const Value buffer = own != stored_.end() ? own->second : buffer_(v))
    return load(buffer, flat_ ? (c.empty() ? Index(0) : c[0]) : index_.linear(c, shape(v)));
  const ValueInfo& info = mir_.value(v);
  if (info.node < 0) throw InternalError("a kernel body needs value %" + std::to_string(v) + ", which has no buffer");
  const Node& n = mir_.node(info.node);
  const ElementRule rule = element_rule(*n.op);
  if (!rule) throw InternalError(std::string(n.op->name()) + " has no element rule and no buffer");
  worked_out_.insert(info.node);
  return rule(*this, n, c);
}

}  // namespace rlx::compile

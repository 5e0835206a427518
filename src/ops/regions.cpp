#include "ops/regions.hpp"

#include "ops/contraction.hpp"

#include <rlx/ir/counted.hpp>

#include <algorithm>

namespace rlx::ops {

std::optional<Combine> recognise_combine(const Graph& g, RegionId region, std::size_t index) {
  const Region& r = g.region(region);
  const std::size_t n = r.arguments.size() / 2;
  if (r.arguments.size() != 2 * n || index >= n || index >= r.results.size()) return std::nullopt;
  const ValueInfo& v = g.value(r.results[index]);
  if (v.node < 0) return std::nullopt;
  const Node& node = g.node(v.node);
  const ValueId x = r.arguments[index], y = r.arguments[n + index];
  if (node.operands != std::vector{x, y} && node.operands != std::vector{y, x}) return std::nullopt;
  const std::string_view name = node.op->name();
  if (name == "add") return Combine::add;
  if (name == "mul") return Combine::mul;
  const bool logical = g.tensor_type(x).dtype == DType::boolean;
  if (name == "min" || (logical && name == "and")) return Combine::min;
  if (name == "max" || (logical && name == "or")) return Combine::max;
  return std::nullopt;
}

// Called before constraints are checked, so that nothing may be counted on.
Types combine_arguments(const DTypes& accumulate, const Signature& s) {
  Types types;
  for (int side = 0; side < 2; ++side)
    for (std::size_t i = 0; i < s.size() / 2; ++i)
      if (const auto* t = std::get_if<TensorType>(&s.types[i]))
        types.emplace_back(tensor(combined_type(accumulate, i, t->dtype), {}));
  return types;
}

Answer operands_and_identities(const Signature& s) {
  const std::size_t n = s.size() / 2;
  if (n == 0 || s.size() != 2 * n) return Answer::no(counted(s.size(), "operand"));
  for (std::size_t i = 0; i < n; ++i)
    if (s.rank(n + i) != 0 || s.dtype(n + i) != s.dtype(i))
      return Answer::no("identity " + std::to_string(i) + " is " + to_string(s.types[n + i]));
  return true;
}

Answer one_shape(const Signature& s) {
  Answer all = true;
  for (std::size_t i = 1; i < s.size() / 2; ++i) all = std::move(all) && s.same_shape(s.shape(i), s.shape(0));
  return all;
}

Answer combines_scalars(const DTypes& accumulate, const Signature& s) {
  if (s.regions.size() != 1) return Answer::no(counted(s.regions.size(), "region"));
  Types wanted = combine_arguments(accumulate, s);
  wanted.resize(wanted.size() / 2);
  if (s.regions[0].results == wanted) return true;
  std::string got;
  for (const Type& t : s.regions[0].results) got += (got.empty() ? "" : ", ") + to_string(t);
  return Answer::no("it returns " + got);
}

Answer types_widen(const DTypes& accumulate, const DTypes& result, const Signature& s) {
  const std::size_t n = s.size() / 2;
  Answer all = empty_or_length(accumulate.size(), static_cast<int>(n), "accumulate") &&
               empty_or_length(result.size(), static_cast<int>(n), "result");
  for (const DTypes* list : {&accumulate, &result})
    for (std::size_t i = 0; i < std::min(n, list->size()); ++i) all = std::move(all) && widens((*list)[i], s.dtype(i));
  return all;
}

SampleOperand neutral_operand(DType t, double v) {
  SampleOperand o(Type(tensor(t, {})), Fill::uniform);
  o.literal.assign(1, v);
  if (is_complex(t)) o.literal.push_back(0);
  o.differentiable = false;
  return o;
}

RegionBody same_region(Builder& b, const Graph& g, const Node& node, std::size_t index) {
  const RegionId region = node.regions.at(index);
  return [&b, &g, region](ValuesIn arguments) { return b.inline_region(g, region, arguments); };
}

HostTensor converted_element(const HostTensor& x, std::int64_t j, DType t) {
  HostTensor y(t, {});
  convert_element(y, 0, x, j);
  return y;
}

void combine_by_region(const ReferenceCall& c, std::vector<HostTensor>& to, std::int64_t i, std::size_t operands,
                       std::int64_t j) {
  HostValues arguments;
  for (std::size_t k = 0; k < operands; ++k) arguments.push_back(element_of(to[k], i));
  for (std::size_t k = 0; k < operands; ++k) arguments.push_back(converted_element(c.tensor(k), j, to[k].dtype()));
  const HostValues r = c.region(0, arguments);
  for (std::size_t k = 0; k < operands; ++k) copy_element(to[k], i, std::get<HostTensor>(r[k]), 0);
}

}  // namespace rlx::ops

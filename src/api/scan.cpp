// Prefixes and reductions whose combination was traced: its graph becomes their region.
#include <rlx/scan.hpp>

#include "api/tensor_support.hpp"
#include "api/trace.hpp"

#include <rlx/ops/build.hpp>

#include <algorithm>

namespace rlx::detail {

Types scalars_of(std::string_view function, const Handles& xs, const Handles& identities) {
  if (xs.empty() || xs.size() != identities.size())
    throw ArgumentError(std::string(function) + ": " + std::to_string(identities.size()) + " identities for " +
                        std::to_string(xs.size()) + " tensors");
  Types out;
  for (const Handle& x : xs) out.push_back(tensor(default_accumulator(Tensor(x).dtype()), {}));
  return out;
}

namespace {

/// The operands of the operator: xs, then identities, of which concrete ones take the dtypes of xs as numbers do.
Handles with_identities(const Handles& xs, const Handles& identities, const Frame& combine, const Caller& caller) {
  if (!combine.captured.empty())
    throw ArgumentError(std::string(caller.function) +
                        ": the combination uses a tensor from around it, and may use its arguments and numbers alone");
  Handles out = xs;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const Tensor neutral(identities[i]);
    const bool number = !neutral.is_traced() && neutral.rank() == 0;
    out.push_back(number ? as_dtype(neutral, Tensor(xs[i]).dtype()) : neutral);
  }
  return out;
}

RegionBody body_of(const Frame& combine) {
  return [&combine](ValuesIn in) { return in[0].builder->inline_region(combine.graph, Graph::top, in); };
}

}  // namespace

Handles apply_associative_scan(const Handles& xs, const Handles& identities, const Frame& combine,
                               const ops::AssociativeScanAttrs& attrs, const Caller& caller) {
  ops::AssociativeScanAttrs a = attrs;
  a.axis = axis_of(caller.function, Tensor(xs[0]), a.axis);
  return build(
      with_identities(xs, identities, combine, caller),
      [&](Builder&, ValuesIn v) {
        return ops::associative_scan(v.first(xs.size()), v.subspan(xs.size()), a, body_of(combine));
      },
      caller);
}

Handles apply_reduce(const Handles& xs, const Handles& identities, const Frame& combine, std::vector<int> axes,
                     const Caller& caller) {
  for (int& a : axes) a = axis_of(caller.function, Tensor(xs[0]), a);
  std::sort(axes.begin(), axes.end());
  return build(
      with_identities(xs, identities, combine, caller),
      [&](Builder&, ValuesIn v) {
        return ops::reduce(v.first(xs.size()), v.subspan(xs.size()), axes, body_of(combine));
      },
      caller);
}

}  // namespace rlx::detail

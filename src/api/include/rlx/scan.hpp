// Prefixes and reductions by a combination of your own, which is traced as a function of scalars.
#pragma once
#include <rlx/ops/attributes/reduction.hpp>
#include <rlx/staging.hpp>

#include <string_view>
#include <type_traits>
#include <vector>

namespace rlx {

namespace detail {
/// Types in which elements of each are combined; throws ArgumentError where `identities` are not one scalar of its
/// dtype for each.
RLX_API Types scalars_of(std::string_view function, const Handles& xs, const Handles& identities);
RLX_API Handles apply_associative_scan(const Handles& xs, const Handles& identities, const Frame& combine,
                                       const ops::AssociativeScanAttrs& attrs, const Caller& caller);
RLX_API Handles apply_reduce(const Handles& xs, const Handles& identities, const Frame& combine, std::vector<int> axes,
                             const Caller& caller);

/// combine(a, b) over scalars, for trees like `xs`.
template <class F, class T>
std::shared_ptr<const Frame> stage_combine(std::string_view function, const F& combine, const T& xs,
                                           const Handles& identities, Here here) {
  Types types = scalars_of(function, leaves_of(xs), identities);
  const Types once = types;
  types.insert(types.end(), once.begin(), once.end());
  static_assert(std::is_same_v<std::decay_t<std::invoke_result_t<const F&, const T&, const T&>>, T>,
                "a combination takes two values of a type and gives one");
  return stage("combine", combine, std::tuple<T, T>{xs, xs}, types, here.location()).frame;
}
}  // namespace detail

/// Inclusive prefixes along `axis` (negative: from the last): y[0] = x[0], y[i] = combine(y[i - 1], x[i]). `xs` is a
/// tensor, or a pair, tuple, array or vector of tensors of one shape, and so are the scalars that combine takes twice
/// and gives once, which are f32 for f16, bf16 and fp8, i32 for i8 and i4; a result is rounded once. It must be
/// associative, and `identities`, scalars or numbers, neutral for it, so that prefixes may be formed in a tree: neither
/// is checked. It may use no tensor from around it. `reverse`: from the end; `exclusive`: without x[i] itself.
/// Derivatives are those of add, mul, min and max, element by element; others are refused. A linear recurrence s[i] =
/// a[i] s[i - 1] + b[i]:
///
///   associative_scan([](Pair l, Pair r) { return Pair{l.first * r.first, l.second * r.first + r.second}; },
///                    Pair{a, b}, Pair{1, 0}).second
template <class F, class T>
T associative_scan(const F& combine, const T& xs, const std::type_identity_t<T>& identities, int axis = 0,
                   bool reverse = false, bool exclusive = false, Here here = std::source_location::current()) {
  const Handles leaves = detail::leaves_of(xs), neutral = detail::leaves_of(identities);
  const auto f = detail::stage_combine("associative_scan", combine, xs, neutral, here);
  return detail::rebuilt(xs, detail::apply_associative_scan(leaves, neutral, *f,
                                                            {.axis = axis, .reverse = reverse, .exclusive = exclusive},
                                                            {"associative_scan", here}));
}

/// All elements along `axes` combined, which go from the result; as for associative_scan, but in any grouping that
/// keeps their order.
template <class F, class T>
T reduce(const F& combine, const T& xs, const std::type_identity_t<T>& identities, std::vector<int> axes,
         Here here = std::source_location::current()) {
  const Handles leaves = detail::leaves_of(xs), neutral = detail::leaves_of(identities);
  const auto f = detail::stage_combine("reduce", combine, xs, neutral, here);
  return detail::rebuilt(xs, detail::apply_reduce(leaves, neutral, *f, std::move(axes), {"reduce", here}));
}

}  // namespace rlx

// Control flow that depends on the values of tensors. Functions may use tensors from around them. Located as functions
// over tensors are (Here): cond, whose last arguments are any number, where its predicate stands.
#pragma once
#include <rlx/staging.hpp>

namespace rlx {

/// then_branch(args...) where the bool scalar `predicate` holds, else else_branch(args...); only one of them runs. Both
/// return the same types.
template <class T, class E, class... A>
auto cond(const detail::Operand& predicate, const T& then_branch, const E& else_branch, const A&... args) {
  const std::tuple<detail::argument_t<A>...> in{args...};
  const Location where = predicate.here().location();
  const auto s = detail::stage("then", then_branch, in, where), other = detail::stage("else", else_branch, in, where);
  return detail::rebuilt(s.structure, detail::apply_if(predicate.tensor(), detail::leaves_of(in), *s.frame,
                                                       *other.frame, {"cond", predicate.here()}));
}

/// state = body(state) as long as condition(state), a bool scalar, holds. A state that is a tuple or a pair is handed
/// over in parts where the functions take those. Reverse mode needs max_trips, a bound of how often the body runs.
template <class C, class B, class S0>
auto while_loop(const C& condition, const B& body, const S0& initial, std::int64_t max_trips = -1,
                Here here = std::source_location::current()) {
  using S = detail::argument_t<S0>;
  static_assert(std::is_same_v<detail::state_result_t<B, S>, S>,
                "the body of while_loop returns the type of the state");
  static_assert(std::is_same_v<detail::state_result_t<C, S>, Tensor>, "the condition of while_loop returns a Tensor");
  const S state(initial);
  const std::tuple<S> in{state};
  const auto c =
      detail::stage("condition", [&](const S& s) { return detail::invoke_state(condition, s); }, in, here.location());
  const auto b = detail::stage("body", [&](const S& s) { return detail::invoke_state(body, s); }, in, here.location());
  return detail::rebuilt(
      state, detail::apply_while(detail::leaves_of(state), *c.frame, *b.frame, max_trips, {"while_loop", here}));
}

/// (state, output) = body(state, element) for every element along dimension 0 of the sequences; gives the final state
/// and the outputs stacked.
template <class B, class S0, class X0>
auto scan_loop(const B& body, const S0& initial, const X0& sequences, bool reverse = false,
               Here here = std::source_location::current()) {
  using S = detail::argument_t<S0>;
  using X = detail::argument_t<X0>;
  const S state(initial);
  const Handles states = detail::leaves_of(state), elements = detail::leaves_of(sequences);
  std::int64_t length = -1;
  Types types = detail::types_of(states);
  for (Type& t : detail::elements_of(elements, length)) types.push_back(std::move(t));
  const auto s = detail::stage("body", body, std::tuple<S, X>{state, sequences}, types, here.location());
  const Handles out = detail::apply_scan(states, elements, length, *s.frame, reverse, {"scan_loop", here});
  using Step = std::decay_t<decltype(s.structure)>;
  static_assert(std::is_same_v<typename Step::first_type, S>,
                "the body of scan_loop returns a pair of the state's type and of an output");
  return detail::rebuilt(s.structure, out);
}

/// state = body(i, state) for i = 0, ..., count - 1 (i64 scalars).
template <class B, class S0>
auto for_loop(std::int64_t count, const B& body, const S0& initial, Here here = std::source_location::current()) {
  using S = detail::argument_t<S0>;
  const S state(initial);
  const Handles states = detail::leaves_of(state), index{arange(count, DType::i64, here)};
  Types types = detail::types_of(states);
  types.push_back(i64({}));
  const auto s = detail::stage(
      "body", [&](const S& x, const Tensor& i) -> S { return body(i, x); }, std::tuple<S, Tensor>{state, Tensor()},
      types, here.location());
  return detail::rebuilt(state, detail::apply_scan(states, index, count, *s.frame, false, {"for_loop", here}));
}

}  // namespace rlx

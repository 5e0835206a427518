// What jit, the transforms and control flow are made of: tracing a function into a graph of its own, and putting that
// to use. For their templates; users include those.
#pragma once
#include <rlx/tree.hpp>

#include <functional>
#include <string>

namespace rlx::detail {

/// `body` traced over arguments of these types. Its nodes are located where `body` says, else at `where`, or, without a
/// file, where the function around it is: nowhere, where that has no location.
RLX_API std::shared_ptr<const Frame> trace(const std::string& name, const Types& arguments,
                                           const std::function<Handles(const Handles&)>& body,
                                           const Location& where = {});
RLX_API Types types_of(const Handles& hs);

/// A traced function and the structure of its result, all leaves undefined.
template <class R>
struct Stage {
  std::shared_ptr<const Frame> frame;
  R structure;
};

/// f(args...), where `args` is the tuple of arguments, traced over leaves of these types.
template <class F, class Args>
auto stage(const std::string& name, const F& f, const Args& args, const Types& types, const Location& where = {}) {
  using R = std::decay_t<decltype(std::apply(f, args))>;
  static_assert(TreeLike<R>, "a traced function returns a Tensor, a Csr, or a vector, array, pair or tuple of them");
  std::optional<R> structure;
  auto frame = trace(
      name, types,
      [&](const Handles& leaves) {
        const R r = std::apply(f, rebuilt(args, leaves));
        structure.emplace(hollow(r));
        return leaves_of(r);
      },
      where);
  return Stage<R>{std::move(frame), std::move(*structure)};
}
template <class F, class Args>
auto stage(const std::string& name, const F& f, const Args& args, const Location& where = {}) {
  return stage(name, f, args, types_of(leaves_of(args)), where);
}

// The uses. Operands are the leaves of the arguments; results the leaves of the result.
RLX_API Handles apply(const Frame& f, const Handles& arguments);
/// The outputs, then the gradient of the first with respect to every wanted argument.
RLX_API Handles apply_grad(const Frame& f, const Handles& arguments, const std::vector<bool>& wanted);
/// The outputs, then their tangents; `tangents` has one for each argument, of which those of integers are not looked
/// at.
RLX_API Handles apply_jvp(const Frame& f, const Handles& arguments, const Handles& tangents);
/// One cotangent for each argument, undefined where it has none.
RLX_API Handles apply_vjp(const Frame& f, const Handles& arguments, const Handles& cotangents);

/// Types of one member of a batch, and how many there are; axes: one an argument, -1: not batched.
struct Members {
  Types types;
  std::int64_t size = 0;
};
RLX_API Members members_of(const Handles& arguments, const std::vector<int>& axes);
RLX_API Handles apply_vmap(const Frame& f, const Handles& arguments, const std::vector<int>& axes, std::int64_t size,
                           int out_axis);

RLX_API Handles apply_checkpoint(const Frame& f, const Handles& arguments, const Caller& caller);
RLX_API Handles apply_if(const Handle& predicate, const Handles& arguments, const Frame& then_branch,
                         const Frame& else_branch, const Caller& caller);
RLX_API Handles apply_while(const Handles& state, const Frame& condition, const Frame& body, std::int64_t max_trips,
                            const Caller& caller);
RLX_API Handles apply_scan(const Handles& state, const Handles& sequences, std::int64_t length, const Frame& body,
                           bool reverse, const Caller& caller);
/// Types of one element of each sequence; throws ArgumentError where their lengths differ. `length` -1: not known yet.
RLX_API Types elements_of(const Handles& sequences, std::int64_t& length);

}  // namespace rlx::detail

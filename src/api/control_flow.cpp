// Branches and loops: traced bodies become regions, and what they captured becomes operands.
#include "api/trace.hpp"

#include <rlx/ops/attributes/control_flow.hpp>

namespace rlx::detail {

namespace {

/// Operands of a node with regions: what every region gets, then the captures of each region in turn.
struct Operands {
  Handles all;
  struct Range {
    std::size_t first, count;
  };
  std::size_t shared;

  explicit Operands(Handles first) : all(std::move(first)), shared(all.size()) {}
  Range add(const Frame& f) {
    const Range r{all.size(), f.captured.size()};
    all.insert(all.end(), f.captured.begin(), f.captured.end());
    return r;
  }
};

/// The region of `f` where the arguments are those operands, but for the first `skip`, which regions do not get.
RegionBody region_of(Builder& b, const Frame& f, std::size_t skip, std::size_t shared, Operands::Range own) {
  return [&b, &f, skip, shared, own](ValuesIn arguments) {
    Values in(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(shared - skip));
    const ValuesIn captured = arguments.subspan(own.first - skip, own.count);
    in.insert(in.end(), captured.begin(), captured.end());
    return b.inline_region(f.graph, Graph::top, in);
  };
}

}  // namespace

Handles apply_if(const Handle& predicate, const Handles& arguments, const Frame& then_branch, const Frame& else_branch,
                 const Caller& caller) {
  Handles first{predicate};
  first.insert(first.end(), arguments.begin(), arguments.end());
  Operands o(std::move(first));
  const auto t = o.add(then_branch), e = o.add(else_branch);
  return build(
      o.all,
      [&](Builder& b, ValuesIn in) {
        const RegionBody bodies[] = {region_of(b, then_branch, 1, o.shared, t),
                                     region_of(b, else_branch, 1, o.shared, e)};
        return b.emit("if", in, {}, bodies);
      },
      caller);
}

Handles apply_checkpoint(const Frame& f, const Handles& arguments, const Caller& caller) {
  Operands o(arguments);
  const auto own = o.add(f);
  return build(
      o.all,
      [&](Builder& b, ValuesIn in) {
        const RegionBody body = region_of(b, f, 0, o.shared, own);
        return b.emit("checkpoint", in, {}, {&body, 1});
      },
      caller);
}

Handles apply_while(const Handles& state, const Frame& condition, const Frame& body, std::int64_t max_trips,
                    const Caller& caller) {
  Operands o(state);
  const auto c = o.add(condition), s = o.add(body);
  return build(
      o.all,
      [&](Builder& b, ValuesIn in) {
        const RegionBody bodies[] = {region_of(b, condition, 0, o.shared, c), region_of(b, body, 0, o.shared, s)};
        return b.emit("while", in, ops::WhileAttrs{static_cast<int>(state.size()), max_trips}, bodies);
      },
      caller);
}

Types elements_of(const Handles& sequences, std::int64_t& length) {
  Types out = types_of(sequences);
  for (Type& t : out) {
    auto* x = std::get_if<TensorType>(&t);
    if (!x || x->rank() == 0) throw ArgumentError("scan_loop: " + to_string(t) + " has no elements along dimension 0");
    const std::int64_t n = x->dim(0).constant();
    if (length >= 0 && n != length)
      throw ArgumentError("scan_loop: sequences of " + std::to_string(length) + " and of " + std::to_string(n));
    length = n;
    x->shape.erase(x->shape.begin());
  }
  if (length < 0) throw ArgumentError("scan_loop: no sequence to walk along; see for_loop");
  return out;
}

Handles apply_scan(const Handles& state, const Handles& sequences, std::int64_t length, const Frame& body, bool reverse,
                   const Caller& caller) {
  Handles first = state;
  first.insert(first.end(), sequences.begin(), sequences.end());
  Operands o(std::move(first));
  const auto s = o.add(body);
  return build(
      o.all,
      [&](Builder& b, ValuesIn in) {
        const RegionBody bodies[] = {region_of(b, body, 0, o.shared, s)};
        const ops::ScanAttrs attrs{static_cast<int>(state.size()), static_cast<int>(sequences.size()), length, reverse};
        return b.emit("scan", in, attrs, bodies);
      },
      caller);
}

}  // namespace rlx::detail

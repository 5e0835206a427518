// scatter: a copy of the operand, then one loop in index order for each position of the update window. Positions of the
// window run in parallel where two of them never meet in one element, which holds along dimensions that no index moves;
// the others belong to the loop. Repeated indices combine in order, no atomics: the same bits on every device.
#include "compile/index_check.hpp"
#include "compile/lower/lower.hpp"
#include "compile/lower/positions.hpp"
#include "compile/lower/reduction.hpp"
#include "compile/lower/root_lowerings.hpp"

#include <rlx/ops/build.hpp>

namespace rlx::compile {

void lower_scatter(Lowering& l, const Node& n) {
  const auto& a = n.attrs.as<ops::ScatterAttrs>();
  const ValueId operand = n.operands[0], indices = n.operands[1], updates = n.operands[2];
  const auto shape = l.shape(operand), update_shape = l.shape(updates);
  // The copy goes where the operand is not needed afterwards (elide_copies), so the loop must not read it.
  if (element_count(update_shape) > 0) {
    l.store_if_reads(n, indices, operand);
    l.store_if_reads(n, updates, operand);
  }
  const Value result = l.allocate_copy(n, operand);
  if (element_count(shape) == 0 || element_count(update_shape) == 0) return;

  // Operand dimension of each window dimension, in order.
  std::vector<int> window_to_operand;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (!contains(a.inserted_window_dims, d) && !contains(a.input_batching_dims, d))
      window_to_operand.push_back(static_cast<int>(d));
  enum class Role {
    free,
    moved,
    batch
  };  // Parallel, in the loop as part of the window, in the loop as an index position.
  std::vector<Role> role;
  std::vector<std::int64_t> parallel, batches, moved;
  std::size_t next_dim = 0;
  std::vector<std::int64_t> window(shape.size(), 1);
  for (std::size_t k = 0; k < window_to_operand.size(); ++k)
    window[static_cast<std::size_t>(window_to_operand[k])] =
        update_shape[static_cast<std::size_t>(a.update_window_dims[k])];
  for (std::size_t d = 0; d < update_shape.size(); ++d) {
    if (!contains(a.update_window_dims, d)) role.push_back(Role::batch), batches.push_back(update_shape[d]);
    else if (const auto to = static_cast<std::size_t>(window_to_operand[next_dim++]);
             contains(a.scatter_dims_to_operand_dims, to) && update_shape[d] > 1)
      role.push_back(Role::moved), moved.push_back(update_shape[d]);
    else role.push_back(Role::free), parallel.push_back(update_shape[d]);
  }
  std::vector<std::int64_t> sequential =
      batches;  // Index positions outermost: their order is the order of combination.
  sequential.insert(sequential.end(), moved.begin(), moved.end());
  const std::int64_t trips = element_count(sequential);

  l.kernel(n, parallel, {indices, updates}, {result}, [&](KernelBody& k) {
    Elements& e = k.elements;
    Builder& b = k.b;
    const RegionBody body = [&](ValuesIn args) -> Values {
      Elements::Scope scope(e);
      const Coordinates trip = e.index().coordinates(Index::of(args[0], trips), sequential);
      const Coordinates batch(trip.begin(), trip.begin() + static_cast<std::ptrdiff_t>(batches.size()));
      Coordinates update(update_shape.size()), to(shape.size());
      std::size_t next_free = 0, next_moved = batches.size(), next_batch = 0, next_window = 0;
      for (std::size_t d = 0; d < update.size(); ++d) {
        update[d] = role[d] == Role::free    ? k.position[next_free++]
                    : role[d] == Role::moved ? trip[next_moved++]
                                             : batch[next_batch++];
        if (role[d] != Role::batch) to[static_cast<std::size_t>(window_to_operand[next_window++])] = update[d];
      }
      const IndexVectors vectors(e, indices, a.index_vector_dim, batch);
      for (std::size_t i = 0; i < a.input_batching_dims.size(); ++i)
        to[static_cast<std::size_t>(a.input_batching_dims[i])] = vectors.coordinate(a.indices_batching_dims[i]);
      Inside all_inside(e);
      for (std::size_t c = 0; c < a.scatter_dims_to_operand_dims.size(); ++c) {
        const Value start = vectors.component(c);
        const auto d = static_cast<std::size_t>(a.scatter_dims_to_operand_dims[c]);
        const Value position = b.emit1("add", {start, e.index().emit(to[d])});
        const Value low = ops::compare(position, e.index().number(0), ops::Direction::ge);
        const Value high = ops::compare(position, e.index().number(Extent::of(shape, d)), ops::Direction::lt);
        const Value in = b.emit1("and", {low, high});
        if (e.checked()) {
          const Value dropped = e.index().number(ops::dropped_index(l.mir().tensor_type(indices).dtype));
          const Value meant = ops::compare(start, dropped, ops::Direction::eq);
          b.emit("lir.check", {b.emit1("or", {in, meant}), start},
                 index_check("scatter index", n, index_range(shape[d] - window[d])));
        }
        all_inside.require(in);
        to[d] = e.index().clamped(position, Extent::of(shape, d));
      }
      const Value x = k.load(updates, update), inside = all_inside.value();
      const Index at = e.index().linear(to, shape);
      const auto write = [&] {
        const Value old = a.kind == ops::Combine::set ? Value{} : e.load(k.writes[0], at);
        k.store(0, at, old ? b.emit1(combine_op(a.kind, x.dtype()), {old, x}) : x);
      };
      if (!inside) {
        write();
        return {};
      }
      const std::vector<RegionBody> branches{[&](ValuesIn) -> Values {
                                               Elements::Scope s(e);
                                               write();
                                               return {};
                                             },
                                             [](ValuesIn) { return Values{}; }};
      b.emit("lir.if_then", ValuesIn(&inside, 1), {}, branches);
      return {};
    };
    const Values bounds{e.index().number(0), e.index().number(Extent::leading(trips))};
    b.emit("lir.for", bounds, lir::ForAttrs{}, std::span(&body, 1));
  });
}

}  // namespace rlx::compile

#include "ops/communication.hpp"

#include <rlx/ir/counted.hpp>

#include <set>

namespace rlx::ops {

HostCommunicator::~HostCommunicator() = default;

ResourceType communicator(Dim ranks) { return {.kind = "communicator", .shape = {std::move(ranks)}}; }

static Communicated communicated(Value x, Value communicator, Value token, std::string_view op, AnyAttrs attrs) {
  const Values out = x.builder->emit(op, {x, communicator, token}, std::move(attrs));
  return {out[0], out[1]};
}
Communicated all_reduce(Value x, Value communicator, Value token, Combine kind) {
  return communicated(x, communicator, token, "comm.all_reduce", AllReduceAttrs{kind});
}
Communicated all_gather(Value x, Value communicator, Value token, int axis) {
  return communicated(x, communicator, token, "comm.all_gather", AxisAttrs{axis});
}
Communicated reduce_scatter(Value x, Value communicator, Value token, int axis, Combine kind) {
  return communicated(x, communicator, token, "comm.reduce_scatter", ReduceScatterAttrs{axis, kind});
}
Communicated all_to_all(Value x, Value communicator, Value token, int split, int concat) {
  return communicated(x, communicator, token, "comm.all_to_all", AllToAllAttrs{split, concat});
}
Communicated broadcast_from(Value x, Value communicator, Value token, std::int64_t root) {
  return communicated(x, communicator, token, "comm.broadcast", RootAttrs{root});
}
Communicated permute(Value x, Value communicator, Value token, PermuteAttrs pairs) {
  return communicated(x, communicator, token, "comm.permute", std::move(pairs));
}
Value rank_of(Value communicator) { return communicator.builder->emit1("comm.rank", {communicator}); }

Answer is_communicator(const ResourceType& t) {
  if (t.shape.size() != 1) return Answer::no("it is " + to_string(Type(t)));
  return prove_less_equal(1, t.shape[0]);
}
Answer divides(const Signature& s, int axis) {
  const Answer within = axis_within(axis, s.rank(0));
  if (within.is_no()) return within;
  if (!ranks(s).is_constant()) return Answer::no("the number of ranks is " + ranks(s).to_string());
  return s.equal(mod(s.tensor(0).dim(axis), ranks(s).constant()), 0);
}
Answer is_rank(std::int64_t rank, const Signature& s) {
  return rank < 0 ? Answer::no(std::to_string(rank)) : s.less_equal(rank + 1, ranks(s));
}
Answer can_reduce(Combine kind, DType t) {
  return kind == Combine::set ? Answer::no("set combines nothing") : can_combine(kind, t);
}

Types infer_parts(const Signature& s, int cut, int joined) {
  Shape shape = s.shape(0);
  if (cut >= 0) {
    Dim& d = shape[static_cast<std::size_t>(cut)];
    d = floordiv(d, ranks(s).constant());
  }
  if (joined >= 0) {
    Dim& d = shape[static_cast<std::size_t>(joined)];
    d = d * ranks(s);
  }
  return with_token(tensor(s.dtype(0), std::move(shape)));
}

const HostCommunicator& host_communicator(const ReferenceCall& c) {
  const HostResource& r = c.in.size() == 1 ? c.resource(0) : c.resource(1);
  const auto* all = static_cast<const HostCommunicator*>(r.data.get());
  if (!all) throw ArgumentError("a communicator without ranks: HostResource::data is empty");
  if (all->size() != r.type.shape.at(0).constant())
    throw ArgumentError("a communicator of " + counted(all->size(), "rank") + ", expected " +
                        r.type.shape[0].to_string());
  return *all;
}

static HostTensor in_type(const HostTensor& x, DType t) {
  HostTensor y(t, x.shape());
  for (std::int64_t i = 0; i < x.numel(); ++i) convert_element(y, i, x, i);
  return y;
}

HostTensor combined_values(Combine kind, const ReferenceCall& c) {
  const HostTensor& x = c.tensor(0);
  const std::vector<HostTensor> all = host_communicator(c).exchange(x);
  HostTensor y = in_type(all[0], partial_type(kind, x.dtype()));
  for (std::size_t r = 1; r < all.size(); ++r)
    for (std::int64_t i = 0; i < y.numel(); ++i) combine_element(kind, y, i, all[r], i);
  return in_type(y, x.dtype());
}

HostTensor part_of(const HostTensor& x, int axis, std::int64_t i, std::int64_t parts) {
  const auto at = static_cast<std::size_t>(axis);
  std::vector<std::int64_t> shape = x.shape();
  shape[at] /= parts;
  HostTensor y(x.dtype(), shape);
  for_each_position(shape, [&](Position p, std::int64_t to) {
    p[at] += i * shape[at];
    copy_element(y, to, x, flat(p, x.shape()));
  });
  return y;
}

HostTensor joined_along(const std::vector<HostTensor>& xs, int axis) {
  const auto at = static_cast<std::size_t>(axis);
  std::vector<std::int64_t> shape = xs[0].shape();
  const std::int64_t length = shape[at];
  shape[at] *= static_cast<std::int64_t>(xs.size());
  HostTensor y(xs[0].dtype(), shape);
  for (std::size_t k = 0; k < xs.size(); ++k)
    for_each_position(xs[k].shape(), [&](Position p, std::int64_t from) {
      p[at] += static_cast<std::int64_t>(k) * length;
      copy_element(y, flat(p, shape), xs[k], from);
    });
  return y;
}

// The product of the other ranks' x.
static Value others_product(Builder& b, Value x, Value communicator, Value token) {
  const Shape shape = x.shape();
  const Value all = all_gather(insert_axis(x, 0, 1), communicator, token, 0).value;
  Values start(shape.size() + 1, scalar(b, DType::i32, 0));
  start[0] = rank_of(communicator);
  return reshape(dynamic_slice(product_of_others(all, {0}), start, with_front(1, shape)), shape);
}

// An extremum goes to the ranks that have it, in equal parts where several do: the mean of the one-sided derivatives.
Value combination_slope(Builder& b, Combine kind, Value x, Value y, Value communicator, Value token) {
  if (kind == Combine::add) return {};
  if (kind == Combine::mul) return others_product(b, x, communicator, token);
  const Value mine = convert(compare(x, y, Direction::eq), x.dtype());
  return div(mine, all_reduce(mine, communicator, token).value);
}

}  // namespace rlx::ops

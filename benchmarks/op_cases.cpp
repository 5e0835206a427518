#include "benchmarks/op_cases.hpp"

#include "api/conformance/fill.hpp"
#include "compile/report_steps.hpp"

#include <rlx/ir/builder.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/transform/vmap.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <tuple>

namespace rlx::bench {

namespace {

std::string dtype_of(const Type& t) {
  if (const auto* x = std::get_if<TensorType>(&t)) return std::string(name(x->dtype));
  if (const auto* s = std::get_if<SparseType>(&t)) return std::string(name(s->dtype));
  return "none";
}

double bytes_of(const Type& t) {
  const auto of = [](DType d, const Dim& n) { return n.is_constant() ? bit_width(d) / 8.0 * n.constant() : 0.0; };
  if (const auto* x = std::get_if<TensorType>(&t)) return of(x->dtype, x->numel());
  if (const auto* s = std::get_if<SparseType>(&t))
    return of(s->dtype, s->entries) + of(s->index, s->entries) + of(s->index, s->shape[0]);
  return 0;
}

bool is_empty(const Type& t) {
  const auto* x = std::get_if<TensorType>(&t);
  return x && x->numel() == Dim(0);
}

/// A graph of the operator alone, with operands as the sample has them. Throws where the instance is refused.
Graph graph_of(const Op& op, const AnySample& s, const Registry& registry) {
  Graph g{std::string(op.name())};
  Builder b(g, registry);
  Values in;
  for (const SampleOperand& o : s.in) in.push_back(b.input(o.type, "x" + std::to_string(in.size())));
  const Values out = b.emit(op.name(), in, s.attrs, s.regions);
  for (std::size_t i = 0; i < out.size(); ++i) b.output(out[i], "y" + std::to_string(i));
  return g;
}

std::optional<OpCase> case_as_it_is(const Op& op, AnySample s, const Registry& registry) try {
  OpCase c{&op, std::move(s), {}, Graph(""), Growth::none, 1, {}, 0, 0, {}};
  c.graph = graph_of(op, c.sample, registry);
  const Types in = c.graph.types_of(c.graph.inputs()), out = c.graph.types_of(c.graph.outputs());
  if ((in.empty() && out.empty()) || std::ranges::any_of(in, is_empty) || std::ranges::any_of(out, is_empty))
    return std::nullopt;
  c.dtype = dtype_of(in.empty() ? out[0] : in[0]);
  const Node& node = c.graph.node(c.graph.region(Graph::top).nodes.at(0));
  if (const auto cost = compile::cost_of(c.graph, node);
      cost && cost->flops.is_constant() && cost->bytes.is_constant()) {
    c.flops = static_cast<double>(cost->flops.constant());
    c.bytes = static_cast<double>(cost->bytes.constant());
  }
  for (const Types* types : {&in, &out})
    for (const Type& t : *types) c.held += bytes_of(t);
  if (!c.flops) c.bytes = c.held;
  return c;
} catch (const Error&) { return std::nullopt; }

Dim larger(const Dim& d) { return d.is_constant() && d.constant() > 1 ? Dim(2 * d.constant()) : d; }

/// The sample with every dimension above 1 twice as large; what counts positions counts as many more, and literal
/// numbers become random ones between the least and the largest of them.
AnySample doubled(AnySample s) {
  for (SampleOperand& o : s.in) {
    if (!o.literal.empty()) {
      const auto [low, high] = std::ranges::minmax(o.literal);
      o.low = low, o.high = high, o.fill = Fill::uniform;
      o.literal.clear();
    }
    if (auto* t = std::get_if<TensorType>(&o.type))
      for (Dim& d : t->shape) d = larger(d);
    if (auto* t = std::get_if<SparseType>(&o.type)) {
      for (Dim& d : t->shape) d = larger(d);
      t->entries = larger(t->entries);
    }
    if ((o.fill == Fill::index || o.fill == Fill::offsets) && o.high > 1) o.high *= 2;
  }
  return s;
}

/// Sparse operands grow where their entries may lie anywhere; literal ones where they are numbers and no positions.
bool may_grow(const SampleOperand& o) {
  if (const auto* t = std::get_if<TensorType>(&o.type))
    return o.literal.empty() || ((is_floating(t->dtype) || is_complex(t->dtype)) &&
                                 std::ranges::all_of(o.literal, [](double x) { return std::isfinite(x); }));
  return o.literal.empty() && o.fill == Fill::uniform;
}

/// Which operands have one value for each member of a batch: all tensors, else those that are no scalars, else the
/// first. The graph over so many members, or none where the operator cannot be batched.
std::optional<std::pair<std::vector<int>, Graph>> batched(const OpCase& c, const Registry& registry,
                                                          std::int64_t members) {
  for (int tries = 0; tries < 3; ++tries) {
    std::vector<int> axes;
    for (const Type& t : c.graph.types_of(c.graph.inputs())) {
      const auto* x = std::get_if<TensorType>(&t);
      axes.push_back(x && (tries == 0 || (tries == 1 && x->rank() > 0) || (tries == 2 && axes.empty())) ? 0 : -1);
    }
    try {
      return std::pair(axes, transform::vmap(c.graph, registry, {.in_axes = axes, .size = members}));
    } catch (const Error&) {}
  }
  return std::nullopt;
}

bool fits(const OpCase& c, const CaseSize& size, double times = 1) {
  return times * std::max(c.bytes, c.held) <= size.bytes && times * c.flops.value_or(0) <= size.flops;
}

OpCase grown(OpCase c, const Registry& registry, const CaseSize& size) {
  if (!(c.bytes > 0)) return c;  // Twice nothing is nothing.
  if (std::ranges::all_of(c.sample.in, may_grow)) {
    while (auto next = case_as_it_is(*c.op, doubled(c.sample), registry)) {
      // What does not move more was limited by an attribute, as a slice is.
      if (next->bytes < 1.5 * c.bytes || !fits(*next, size)) break;
      next->growth = Growth::dimensions;
      next->factor = 2 * c.factor;
      c = std::move(*next);
    }
    if (c.growth == Growth::dimensions) return c;
  }
  std::int64_t members = 1;  // At most as many as there are bytes.
  while (fits(c, size, 2.0 * static_cast<double>(members))) members *= 2;
  if (members == 1 || c.sample.in.empty()) return c;
  if (auto made = batched(c, registry, members)) {
    std::tie(c.axes, c.graph) = std::move(*made);
    c.growth = Growth::batch;
    c.factor = members;
    c.bytes *= static_cast<double>(members);
    if (c.flops) *c.flops *= static_cast<double>(members);
  }
  return c;
}

/// A csr matrix with the entries of its type spread evenly over rows, and within a row from the diagonal on.
HostSparse spread_csr(const SparseType& t) {
  const std::int64_t rows = t.shape[0].constant(), columns = t.shape[1].constant(), entries = t.entries.constant();
  HostSparse a{t, HostTensor(t.index, {rows + 1}), HostTensor(t.index, {entries}), HostTensor(t.dtype, {entries})};
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    a.offsets.set_i64(i, at);
    const std::int64_t end = (i + 1) * entries / rows, count = end - at;
    const std::int64_t first = std::clamp<std::int64_t>(i, 0, columns - count);
    for (std::int64_t k = 0; at < end; ++at, ++k) {
      a.indices.set_i64(at, first + k);
      a.values.set_f64(at, 1.0 / (1.0 + static_cast<double>(k)));
    }
  }
  a.offsets.set_i64(rows, at);
  return a;
}

/// Symmetric and diagonally dominant, eigenvalues in [1, 3]: as positive as it is well conditioned.
HostTensor dominant_matrices(const TensorType& t) {
  HostTensor x(t.dtype, constant_shape(t.shape));
  const std::int64_t n = x.shape().back();
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const std::int64_t row = i / n % n, column = i % n, apart = (row * column + row + column) % 7;
    x.set_f64(i, (row == column ? 2.0 : 0.0) + static_cast<double>(apart - 3) / static_cast<double>(3 * n));
  }
  return x;
}

HostValue operand(const SampleOperand& o, const OpCase& c, std::size_t at) {
  if (c.growth == Growth::dimensions) {
    if (const auto* s = std::get_if<SparseType>(&o.type)) return spread_csr(*s);
    if (o.fill == Fill::positive_definite || o.fill == Fill::well_conditioned)
      return dominant_matrices(std::get<TensorType>(o.type));
  }
  HostValue x = conformance::filled(o, conformance::seed_of(c.op->name(), 0, at));
  if (c.growth != Growth::batch || c.axes[at] < 0) return x;
  const HostTensor& member = std::get<HostTensor>(x);
  std::vector<std::int64_t> shape = member.shape();
  shape.insert(shape.begin(), c.factor);
  HostTensor all(member.dtype(), shape);
  if (bit_width(member.dtype()) < 8) {  // Members share bytes.
    for (std::int64_t i = 0; i < all.numel(); ++i) all.set_i64(i, member.get_i64(i % member.numel()));
    return all;
  }
  for (std::int64_t m = 0; m < c.factor && member.bytes() > 0; ++m)
    std::memcpy(all.mutable_data() + m * member.bytes(), member.data(), static_cast<std::size_t>(member.bytes()));
  return all;
}

}  // namespace

std::string OpCase::text() const {
  std::string s(op->name());
  const Types in = graph.types_of(graph.inputs());
  for (std::size_t i = 0; i < in.size() && i < 3; ++i) s += (i ? ", " : " ") + to_string(in[i]);
  return in.size() > 3 ? s + ", ..." : in.empty() ? s + " " + dtype : s;
}

std::vector<OpCase> cases_of(const Op& op, const Registry& registry, const CaseSize& size) {
  std::map<std::string, OpCase> best;
  for (AnySample& s : op.samples()) {
    if (!s.breaks.empty()) continue;
    // A factorization would have to be made first, and would be timed with it.
    const auto cannot_be_given = [&](const SampleOperand& o) {
      return std::holds_alternative<ResourceType>(o.type) || conformance::cannot_fill(o, registry);
    };
    if (std::ranges::any_of(s.in, cannot_be_given)) continue;
    std::optional<OpCase> first = case_as_it_is(op, std::move(s), registry);
    if (!first) continue;
    OpCase c = grown(std::move(*first), registry, size);
    const auto worth = [](const OpCase& x) { return std::tuple(x.growth, x.flops.value_or(0), x.bytes); };
    if (const auto it = best.find(c.dtype); it == best.end()) best.emplace(c.dtype, std::move(c));
    else if (worth(c) > worth(it->second)) it->second = std::move(c);
  }
  std::vector<OpCase> all;
  for (auto& [dtype, c] : best) all.push_back(std::move(c));
  return all;
}

HostValues operands_of(const OpCase& c) {
  HostValues in;
  for (std::size_t i = 0; i < c.sample.in.size(); ++i) in.push_back(operand(c.sample.in[i], c, i));
  return in;
}

}  // namespace rlx::bench

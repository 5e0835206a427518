#include "compile/lower/lower.hpp"

#include "compile/lower/root_lowerings.hpp"

#include <rlx/ops/attributes/source.hpp>

#include <algorithm>
#include <array>

namespace rlx::compile {

namespace {

constexpr std::array root_rows{
    RootLowering{"arg_reduce", lower_arg_reduce, OperandUse::pulled},
    RootLowering{"associative_scan", lower_associative_scan, OperandUse::pulled},
    RootLowering{"barrier", lower_barrier, OperandUse::buffer},
    RootLowering{"check_within", lower_check_within, OperandUse::pulled},
    RootLowering{"conv", lower_conv, OperandUse::pulled_if_free},
    RootLowering{"dot_general", lower_dot_general, OperandUse::pulled_if_free},
    RootLowering{"dynamic_update_slice", lower_dynamic_update_slice, OperandUse::pulled},
    RootLowering{"if", lower_if, OperandUse::buffer},
    RootLowering{"reduce", nullptr, OperandUse::pulled},  // lower_rows
    RootLowering{"reduce_window", lower_reduce_window, OperandUse::pulled_if_free},
    RootLowering{"scatter", lower_scatter, OperandUse::pulled},
    RootLowering{"sparse.assemble", lower_sparse_assemble, OperandUse::buffer},
    RootLowering{"sparse.parts", lower_sparse_parts, OperandUse::buffer},
    RootLowering{"while", lower_while, OperandUse::buffer},
};

// Rows. Where threads do not come in vectors, a loop that is a thread for each row needs as many to fill a device.
constexpr std::int64_t least_rows_of_teams = 4096;

}  // namespace

const RootLowering* root_lowering(const Op& op) {
  for (const RootLowering& r : root_rows)
    if (r.op == op.name()) return &r;
  return nullptr;
}

OperandUse operand_use(const Node& user) {
  const RootLowering* r = user.record.empty() ? root_lowering(*user.op) : nullptr;
  return r ? r->use : OperandUse::buffer;
}

Lowering::Lowering(const Graph& mir, const Registry& registry, const Target& target,
                   std::span<const KernelRecord> records, const CompileOptions& options, DispatchReport& report)
    : mir_(mir),
      target_(target),
      records_(records),
      options_(options),
      report_(report),
      lir_(mir.name),
      b_(lir_, registry) {}

const Values& Lowering::buffers(ValueId v) const {
  const auto it = buffers_.find(v);
  if (it == buffers_.end()) throw InternalError("lowering: value %" + std::to_string(v) + " has no buffer");
  return it->second;
}

Value Lowering::buffer(ValueId v, std::size_t part) const { return buffers(v).at(part); }

bool Lowering::is_view_of(Value b, Value of) const {
  while (b.id != of.id) {
    const NodeId d = lir_.value(b.id).node;
    if (d < 0 || lir_.node(d).op->name() != "lir.view") return false;
    b.id = lir_.node(d).operands[0];
  }
  return true;
}

void Lowering::lower_kernel(const FusedKernel& k) {
  const Node& first = mir_.node(k.roots[0]);
  if (first.op->name() == "constant") {
    const HostTensor& value = first.attrs.as<ops::ConstantAttrs>().value;
    buffers_[first.results[0]] = {b_.emit1("lir.buffer", {},
                                           lir::BufferAttrs{.type = device_type(mir_.tensor_type(first.results[0])),
                                                            .lifetime = lir::Lifetime::constant,
                                                            .value = value})};
    return;
  }
  if (k.space >= 0) return lower_rows(*this, k);
  if (!first.record.empty()) return lower_call(first);
  if (!is_inlined_kind(first)) {
    const RootLowering* r = root_lowering(*first.op);
    if (!r)
      throw InternalError("lowering: " + std::string(first.op->name()) + " has neither record nor generated lowering");
    return r->lower(*this, first);
  }
  // A reshape of what is in memory is the same memory.
  if (k.roots.size() == 1 && first.op->name() == "reshape" && has_buffer(first.operands[0])) {
    buffers_[first.results[0]] = {view(buffer(first.operands[0]), mir_.tensor_type(first.results[0]))};
    return;
  }
  lower_loop(k);
}

std::vector<const Node*> Lowering::nodes(const std::vector<NodeId>& ids) const {
  std::vector<const Node*> out;
  for (NodeId id : ids) out.push_back(&mir_.node(id));
  return out;
}

void Lowering::lower_loop(const FusedKernel& k) {
  const std::vector<std::int64_t> shape = this->shape(mir_.node(k.roots[0]).results[0]);
  if (element_count(shape) == 0) {
    for (NodeId r : k.roots) allocate(mir_.node(r).results[0]);
    return;
  }
  std::vector<ValueId> results;
  Values writes;
  for (NodeId r : k.roots) {
    results.push_back(mir_.node(r).results[0]);
    writes.push_back(allocate(results.back()));
  }
  const bool flat = k.flat && !may_join_call(results, shape);
  lir::KernelAttrs a;
  a.policy = flat || shape.size() == 1 ? lir::Policy::range : lir::Policy::mdrange;
  a.extents = flat ? std::vector{element_count(shape)} : shape;
  kernel({.origins = nodes(k.roots),
          .attrs = a,
          .pulled = results,
          .writes = writes,
          .computed = {results.begin(), results.end()},
          .flat = flat},
         [&](KernelBody& body) {
           const Index linear = flat ? body.position[0] : body.elements.index().linear(body.position, shape);
           // All loads come before the first store: a destination may be the memory of a value that is still read.
           Values computed;
           for (ValueId v : results) computed.push_back(body.load(v, body.position));
           for (std::size_t i = 0; i < results.size(); ++i) body.store(i, linear, computed[i]);
         });
}

bool Lowering::may_join_call(const std::vector<ValueId>& results, const std::vector<std::int64_t>& shape) const {
  if (shape.size() < 2) return false;
  const std::vector<ValueId> reads = leaves(results, {results.begin(), results.end()});
  const auto same = [&](ValueId v) { return this->shape(v) == shape; };
  const auto is_called = [&](ValueId v) {
    const NodeId d = mir_.value(v).node;
    return d >= 0 && !mir_.node(d).record.empty();
  };
  if (std::any_of(reads.begin(), reads.end(), [&](ValueId v) { return is_called(v) && same(v); })) return true;
  return results.size() == 1 && taken_in_pieces_.contains(results[0]) &&
         std::all_of(reads.begin(), reads.end(),
                     [&](ValueId v) { return same(v) || element_count(this->shape(v)) == 1; });
}

void Lowering::lower_call(const Node& n) {
  lir::CallAttrs a;
  a.record = n.record;
  a.op = n.op->name();
  n.attrs.print(a.attributes);
  Values values;
  for (ValueId v : n.operands) values.insert(values.end(), buffers_.at(v).begin(), buffers_.at(v).end());
  a.operands = static_cast<int>(values.size());
  std::vector<ValueId> resources;
  for (ValueId v : n.results) {
    if (const auto* r = std::get_if<ResourceType>(&mir_.type(v))) {
      resources.push_back(v);
      a.resources.push_back(*r);
    } else if (const auto* s = std::get_if<SparseType>(&mir_.type(v))) {
      Values parts;
      for (const TensorType& t : sparse_parts(*s)) parts.push_back(allocate_transient(t));
      values.insert(values.end(), parts.begin(), parts.end());
      buffers_[v] = parts;
    } else values.push_back(allocate(v));
  }
  a.operand_types = mir_.types_of(n.operands);
  a.result_types = mir_.types_of(n.results);
  set_origin(n);
  const Values made = b_.emit("lir.call", values, a);
  for (std::size_t i = 0; i < resources.size(); ++i) buffers_[resources[i]] = {made[i]};
  claim(n);
}

const KernelRecord& Lowering::record_of(const Node& call) const {
  for (const KernelRecord& r : records_)
    if (r.name.value == call.record && r.op.value == call.op->name()) return r;
  throw InternalError("lowering: no record " + call.record + " for " + std::string(call.op->name()));
}

std::vector<Values> Lowering::region(RegionId r, const std::vector<Values>& arguments) {
  const Region& source = mir_.region(r);
  for (std::size_t i = 0; i < arguments.size(); ++i) buffers_[source.arguments[i]] = arguments[i];
  const Fusion fusion =
      fuse(mir_, r, {.enabled = options_.fuse, .least_rows = target_.max_team_threads > 1 ? least_rows_of_teams : 1});
  stored_.insert(fusion.buffers.begin(), fusion.buffers.end());
  for (NodeId id : source.nodes)
    if (const Node& n = mir_.node(id); !n.record.empty() && record_of(n).prologue)
      taken_in_pieces_.insert(n.operands.begin(), n.operands.end());
  for (const FusedKernel& k : fusion.kernels) lower_kernel(k);
  std::vector<Values> out;
  for (ValueId v : source.results) out.push_back(buffers_.at(v));
  return out;
}

Lowered Lowering::run() {
  std::vector<Values> arguments;
  for (std::size_t i = 0; i < mir_.inputs().size(); ++i) {
    const Type& t = mir_.type(mir_.inputs()[i]);
    const std::string& name = mir_.input_names[i];
    Values parts;
    if (const auto* x = std::get_if<TensorType>(&t)) parts.push_back(b_.input(device_type(*x), name));
    else if (const auto* s = std::get_if<SparseType>(&t)) {
      static constexpr std::array suffix{".offsets", ".indices", ".values"};
      const auto types = sparse_parts(*s);
      for (std::size_t p = 0; p < types.size(); ++p) parts.push_back(b_.input(device_type(types[p]), name + suffix[p]));
    } else parts.push_back(b_.input(t, name));
    arguments.push_back(parts);
  }
  const std::vector<Values> results = region(Graph::top, arguments);
  for (std::size_t i = 0; i < results.size(); ++i)
    for (std::size_t p = 0; p < results[i].size(); ++p)
      b_.output(as_output(mir_.outputs()[i], results[i][p]),
                mir_.output_names[i] + (results[i].size() > 1 ? "." + std::to_string(p) : ""));
  return {std::move(lir_), std::move(sources_)};
}

// What a program returns is memory of its own: a fresh transient becomes an output; an input, a constant, a view, or
// what is returned twice is copied.
Value Lowering::as_output(ValueId mir_value, Value v) {
  if (!std::holds_alternative<TensorType>(v.type())) return v;
  const NodeId d = lir_.value(v.id).node;
  if (d >= 0 && lir_.node(d).op->name() == "lir.buffer" && lir_.node(d).parent == Graph::top) {
    auto a = lir_.node(d).attrs.as<lir::BufferAttrs>();
    if (a.lifetime == lir::Lifetime::transient) {
      a.lifetime = lir::Lifetime::output;
      lir_.node(d).attrs = a;
      return v;
    }
  }
  const Value out = b_.emit1("lir.buffer", {}, lir::BufferAttrs{.type = v.type(), .lifetime = lir::Lifetime::output});
  // An input that is returned has no node, so its copy is in no row of the report.
  if (const NodeId maker = mir_.value(mir_value).node; maker >= 0) copy(mir_.node(maker), v, out);
  else {
    set_origin(Node{});
    b_.emit("lir.copy", {v, out});
    claim(StepSource{});
  }
  return out;
}

std::vector<TensorType> sparse_parts(const SparseType& s) {
  return {tensor(s.index, {s.shape[0] + 1}), tensor(s.index, {s.entries}), tensor(s.dtype, {s.entries})};
}

Lowered lower(const Graph& mir, const Registry& registry, const Target& target, std::span<const KernelRecord> records,
              const CompileOptions& options, DispatchReport& report) {
  return Lowering(mir, registry, target, records, options, report).run();
}

}  // namespace rlx::compile

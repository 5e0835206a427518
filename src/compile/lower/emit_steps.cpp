// Buffers, copies and kernels as steps of the program, each with its row of the report.
#include "compile/lower/lower.hpp"

#include <algorithm>
#include <cctype>

namespace rlx::compile {

TensorType device_type(TensorType t) {
  t.space = Space::device;
  return t;
}

Value Lowering::allocate_transient(const TensorType& t) {
  return b_.emit1("lir.buffer", {}, lir::BufferAttrs{.type = device_type(t)});
}

Value Lowering::allocate(ValueId v) {
  const Value buffer = allocate_transient(mir_.tensor_type(v));
  buffers_[v] = {buffer};
  return buffer;
}

Value Lowering::allocate_copy(const Node& n, ValueId operand) {
  const Value result = allocate(n.results[0]);
  const std::vector<std::int64_t> shape = this->shape(operand);
  if (element_count(shape) == 0) return result;
  if (has_buffer(operand)) copy(n, buffer(operand), result);
  else
    kernel(n, shape, {operand}, {result}, [&](KernelBody& k) {
      k.store(0, k.elements.index().linear(k.position, shape), k.load(operand, k.position));
    });
  return result;
}

void Lowering::store_if_reads(const Node& n, ValueId v, ValueId memory) {
  if (has_buffer(v) || !has_buffer(memory)) return;
  const auto same_memory = [&](Value a) { return is_view_of(a, buffer(memory)) || is_view_of(buffer(memory), a); };
  const std::vector<ValueId> reads = leaves({v});
  if (std::none_of(reads.begin(), reads.end(), [&](ValueId r) { return same_memory(buffer(r)); })) return;
  const std::vector<std::int64_t> shape = this->shape(v);
  lir::KernelAttrs a;
  a.policy = shape.size() == 1 ? lir::Policy::range : lir::Policy::mdrange;
  a.extents = shape;
  kernel({&n}, a, {v}, {allocate(v)},
         [&](KernelBody& k) { k.store(0, k.elements.index().linear(k.position, shape), k.load(v, k.position)); }, false,
         {v});
}

Value Lowering::view(Value of, const TensorType& t, std::int64_t offset) {
  TensorType type = t;
  type.space = of.tensor().space;
  return b_.emit1("lir.view", {of}, lir::ViewAttrs{.type = type, .offset = offset});
}

std::string Lowering::unique_name(std::string_view stem) {
  std::string name(stem);
  std::replace_if(name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name + "_" + std::to_string(names_[name]++);
}

void Lowering::step(const Node& origin, std::string name, std::string kind, std::string provider,
                    std::int64_t operations) {
  report_.steps.push_back({name, std::move(kind), std::move(provider), operations});
  if (origin.origin >= 0) report_.rows[static_cast<std::size_t>(origin.origin)].steps.push_back(std::move(name));
}

void Lowering::share_step(const Node& other, const std::string& name) {
  if (other.origin < 0) return;
  auto& steps = report_.rows[static_cast<std::size_t>(other.origin)].steps;
  if (std::find(steps.begin(), steps.end(), name) == steps.end()) steps.push_back(name);
}

void Lowering::set_origin(const Node& n) {
  b_.set_origin(n.origin);
  b_.set_location(n.location);
}

void Lowering::copy(const Node& origin, Value from, Value to) {
  set_origin(origin);
  b_.emit("lir.copy", {from, to});
  step(origin, "copy", "copy", "generated");
}

void Lowering::note(const Node& origin, std::string text) { report_.add_note(origin.origin, std::move(text)); }

std::vector<ValueId> Lowering::leaves(const std::vector<ValueId>& values, const std::set<ValueId>& computed) const {
  std::vector<ValueId> out, stack(values.rbegin(), values.rend());
  std::set<ValueId> seen(values.begin(), values.end());
  while (!stack.empty()) {
    const ValueId v = stack.back();
    stack.pop_back();
    if (buffers_.contains(v) && !computed.contains(v)) {
      out.push_back(v);
      continue;
    }
    const NodeId d = mir_.value(v).node;
    if (d < 0) throw InternalError("lowering: argument %" + std::to_string(v) + " has no buffer");
    for (ValueId o : mir_.node(d).operands)
      if (seen.insert(o).second) stack.push_back(o);
  }
  return out;
}

void Lowering::kernel(const Node& origin, std::vector<std::int64_t> extents, const std::vector<ValueId>& pulled,
                      Values writes, const std::function<void(KernelBody&)>& body, Values reads) {
  lir::KernelAttrs a;
  a.policy = extents.size() == 1 ? lir::Policy::range : lir::Policy::mdrange;
  a.extents = std::move(extents);
  kernel({&origin}, std::move(a), pulled, std::move(writes), body, false, {}, std::move(reads));
}

void Lowering::kernel(const std::vector<const Node*>& origins, lir::KernelAttrs attrs,
                      const std::vector<ValueId>& pulled, Values writes, const std::function<void(KernelBody&)>& body,
                      bool flat, const std::set<ValueId>& computed, Values reads) {
  const Node& origin = *origins.back();
  const std::vector<ValueId> loaded = leaves(pulled, computed);
  attrs.name = unique_name(origin.op->name());
  attrs.writes = static_cast<int>(writes.size());
  Values buffers;
  for (ValueId v : loaded) buffers.push_back(buffer(v));
  buffers.insert(buffers.end(), reads.begin(), reads.end());
  buffers.insert(buffers.end(), writes.begin(), writes.end());
  // A scalar result has no coordinates, but its kernel runs once all the same.
  const bool scalar = attrs.extents.empty();
  if (scalar) attrs.policy = lir::Policy::range, attrs.extents = {1};
  const std::size_t indices = attrs.extents.size() + attrs.team.size();
  const std::size_t first_node = lir_.node_count();
  const RegionBody region = [&](ValuesIn args) -> Values {
    std::map<ValueId, Value> at;
    for (std::size_t i = 0; i < loaded.size(); ++i) at.emplace(loaded[i], args[indices + i]);
    Elements elements(
        b_, mir_,
        [&at](ValueId v) {
          const auto it = at.find(v);
          return it == at.end() ? Value{} : it->second;
        },
        flat, options_.checked);
    KernelBody k{b_, elements, {}, {}, {}, {}};
    for (std::size_t i = 0; i < attrs.extents.size() && !scalar; ++i)
      k.position.push_back(Index::of(args[i], attrs.extents[i]));
    for (std::size_t i = 0; i < attrs.team.size(); ++i)
      k.thread.push_back(Index::of(args[attrs.extents.size() + i], attrs.team[i]));
    const auto after_loaded = args.begin() + static_cast<std::ptrdiff_t>(indices + loaded.size());
    k.reads.assign(after_loaded, after_loaded + static_cast<std::ptrdiff_t>(reads.size()));
    k.writes.assign(after_loaded + static_cast<std::ptrdiff_t>(reads.size()), args.end());
    body(k);
    return {};
  };
  set_origin(origin);
  b_.emit("lir.kernel", buffers, attrs, std::span(&region, 1));
  step(origin, attrs.name, "kernel", "generated", static_cast<std::int64_t>(lir_.node_count() - first_node));
  for (const Node* other : origins) share_step(*other, attrs.name);
}

}  // namespace rlx::compile

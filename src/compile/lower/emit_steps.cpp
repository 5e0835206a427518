// Buffers, copies and kernels as steps of the program, each with its row of the report.
#include "compile/lower/lower.hpp"

#include <algorithm>
#include <cctype>

namespace rlx::compile {

// What runs at every point of a shape; its name and writes are the kernel's to say.
static lir::KernelAttrs over(std::vector<std::int64_t> shape) {
  const lir::Policy policy = shape.size() == 1 ? lir::Policy::range : lir::Policy::mdrange;
  return {.policy = policy, .extents = std::move(shape)};
}

TensorType device_type(TensorType t) {
  t.space = Space::device;
  t.quantization = nullptr;  // The buffer holds what is stored.
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
    kernel(
        {.origins = {&n}, .attrs = over(shape), .pulled = {operand}, .writes = {result}, .works = false},
        [&](KernelBody& k) { k.store(0, k.elements.index().linear(k.position, shape), k.load(operand, k.position)); });
  return result;
}

void Lowering::store_if_reads(const Node& n, ValueId v, ValueId memory) {
  if (has_buffer(v) || !has_buffer(memory)) return;
  const auto same_memory = [&](Value a) { return is_view_of(a, buffer(memory)) || is_view_of(buffer(memory), a); };
  const std::vector<ValueId> reads = leaves({v});
  if (std::none_of(reads.begin(), reads.end(), [&](ValueId r) { return same_memory(buffer(r)); })) return;
  const std::vector<std::int64_t> shape = this->shape(v);
  kernel(
      {.origins = {&n}, .attrs = over(shape), .pulled = {v}, .writes = {allocate(v)}, .computed = {v}, .works = false},
      [&](KernelBody& k) { k.store(0, k.elements.index().linear(k.position, shape), k.load(v, k.position)); });
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

void Lowering::claim(StepSource source) { sources_[lir_.region(b_.region()).nodes.back()] = std::move(source); }

void Lowering::claim(const Node& origin) { claim(StepSource{.makes = {&origin}}); }

void Lowering::set_origin(const Node& n) {
  b_.set_origin(n.origin);
  b_.set_location(n.location);
}

void Lowering::copy(const Node& origin, Value from, Value to) {
  set_origin(origin);
  b_.emit("lir.copy", {from, to});
  claim(origin);
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
                      Values writes, const std::function<void(KernelBody&)>& body) {
  kernel({.origins = {&origin}, .attrs = over(std::move(extents)), .pulled = pulled, .writes = std::move(writes)},
         body);
}

void Lowering::kernel(KernelSpec spec, const std::function<void(KernelBody&)>& body) {
  lir::KernelAttrs& attrs = spec.attrs;
  const Values &reads = spec.reads, &writes = spec.writes;
  const Node& origin = *spec.origins.back();
  const std::vector<ValueId> loaded = leaves(spec.pulled, spec.computed);
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
  StepSource source{.makes = spec.origins, .works = spec.works};
  const RegionBody region = [&](ValuesIn args) -> Values {
    std::map<ValueId, Value> at;
    for (std::size_t i = 0; i < loaded.size(); ++i) at.emplace(loaded[i], args[indices + i]);
    Elements elements(
        b_, mir_,
        [&at](ValueId v) {
          const auto it = at.find(v);
          return it == at.end() ? Value{} : it->second;
        },
        spec.flat, options_.checked);
    KernelBody k{b_, elements, {}, {}, {}, {}};
    for (std::size_t i = 0; i < attrs.extents.size() && !scalar; ++i)
      k.position.push_back(Index::of(args[i], attrs.extents[i]));
    for (std::size_t i = 0; i < attrs.team.size(); ++i)
      k.thread.push_back(Index::of(args[attrs.extents.size() + i], attrs.team[i]));
    const auto after_loaded = args.begin() + static_cast<std::ptrdiff_t>(indices + loaded.size());
    k.reads.assign(after_loaded, after_loaded + static_cast<std::ptrdiff_t>(reads.size()));
    k.writes.assign(after_loaded + static_cast<std::ptrdiff_t>(reads.size()), args.end());
    body(k);
    for (NodeId n : elements.worked_out())
      if (const Node* used = &mir_.node(n);
          std::find(source.makes.begin(), source.makes.end(), used) == source.makes.end())
        source.uses.push_back(used);
    return {};
  };
  set_origin(origin);
  b_.emit("lir.kernel", buffers, attrs, std::span(&region, 1));
  claim(std::move(source));
}

}  // namespace rlx::compile

#include "compile/emit_llvm/kernel.hpp"

#include "compile/emit_llvm/elementwise.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes/source.hpp>

namespace rlx::emit_llvm {

Kernel::Kernel(Ir& ir, const Graph& g, const KernelPlan& plan, const Machine& machine)
    : ir_(ir), g_(g), plan_(plan), machine_(machine), prefetches_(prefetches(g, plan, machine)) {}

V Kernel::wide(const Val& x) const {
  if (x.stride == 0 || lanes_ == 1) return ir_.splat(x.re, lanes_);
  return ir_.splat(x.re, lanes_) + ir_.iota(ir_.i64, lanes_, x.stride);
}
Val Kernel::widened(Val x) const {
  x.re = wide(x);
  if (x.im) x.im = ir_.splat(x.im, lanes_);
  if (x.factor_a) {
    x.factor_a = ir_.splat(x.factor_a, lanes_);
    x.factor_b = ir_.splat(x.factor_b, lanes_);
  }
  x.stride = 0;
  return x;
}
bool Kernel::match(std::span<Val> xs) const {
  bool scalar = true;
  for (const Val& x : xs) scalar &= is_scalar(x);
  if (scalar) return false;
  for (Val& x : xs) x = widened(x);
  return true;
}

void Kernel::count_uses(RegionId r) {
  for (ValueId v : g_.region(r).results) ++uses_[v];
  for (NodeId id : g_.region(r).nodes) {
    for (ValueId v : g_.node(id).operands) ++uses_[v];
    for (RegionId inner : g_.node(id).regions) count_uses(inner);
  }
}

void Kernel::emit() {
  LLVMTypeRef parameters[] = {ir_.ptr, ir_.i64, ir_.i64, ir_.ptr, ir_.ptr};
  const LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(ir_.c), parameters, std::size(parameters), 0);
  ir_.fn = LLVMAddFunction(ir_.m, plan_.attrs->name.c_str(), type);
  auto attribute = [&](const char* key, const std::string& text) {
    LLVMAddAttributeAtIndex(
        ir_.fn, static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex),
        LLVMCreateStringAttribute(ir_.c, key, static_cast<unsigned>(std::char_traits<char>::length(key)), text.c_str(),
                                  static_cast<unsigned>(text.size())));
  };
  // Without these, code for processors that prefer 256 bits would split every register.
  if (machine_.vector_bits()) {
    attribute("prefer-vector-width", std::to_string(machine_.vector_bits()));
    attribute("min-legal-vector-width", std::to_string(machine_.vector_bits()));
  }
  const unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
  LLVMAddAttributeAtIndex(ir_.fn, static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex),
                          LLVMCreateEnumAttribute(ir_.c, nounwind, 0));
  ir_.at(ir_.block("entry"));
  auto parameter = [&](unsigned i) { return ir_.wrap(LLVMGetParam(ir_.fn, i)); };
  check_ = parameter(3);

  const Node& n = g_.node(plan_.node);
  const Region& body = g_.region(n.regions[0]);
  count_uses(n.regions[0]);
  make_scopes();
  const std::size_t dims = plan_.attrs->extents.size();
  for (std::size_t i = 0; i < n.operands.size(); ++i) {
    LLVMValueRef at[] = {ir_.integer(ir_.i64, static_cast<std::int64_t>(i)).v};
    const LLVMValueRef slot = LLVMBuildInBoundsGEP2(ir_.b, ir_.ptr, parameter(0).v, at, 1, "");
    const ValueId argument = body.arguments[dims + i];
    buffers_[argument] = {ir_.wrap(LLVMBuildLoad2(ir_.b, ir_.ptr, slot, "")), g_.tensor_type(argument).dtype, i};
  }

  for (std::size_t i = 0; i < plan_.sizes.size(); ++i) {
    LLVMValueRef at[] = {ir_.integer(ir_.i64, static_cast<std::int64_t>(i)).v};
    const LLVMValueRef slot = LLVMBuildInBoundsGEP2(ir_.b, ir_.i64, parameter(4).v, at, 1, "");
    sizes_.push_back(ir_.wrap(LLVMBuildLoad2(ir_.b, ir_.i64, slot, "")));
  }
  std::size_t next = first_size_of_body;
  for (NodeId size : lir::sizes(g_, n)) sizes_of_body_[size] = sizes_[next++];
  std::int64_t place = 0;
  for (NodeId check : lir::checks(g_, n)) checks_of_body_[check] = place++;
  ir_.loop(parameter(1), parameter(2), 1, [&](V at) { unit(at, body); });
  LLVMBuildRetVoid(ir_.b);
}

// Unit -> position in the outer dimensions and block of the last one.
void Kernel::unit(V unit, const Region& body) {
  const V zero = ir_.integer(ir_.i64, 0);
  const std::size_t dims = plan_.attrs->extents.size();
  if (dims == 0) {
    point_ = zero;
    region(g_.node(plan_.node).regions[0], {});
    return;
  }
  const auto integer = [&](std::int64_t x) { return ir_.integer(ir_.i64, x); };
  const auto divide = [&](V a, V by) { return ir_.wrap(LLVMBuildUDiv(ir_.b, a.v, by.v, "")); };
  const V last = dims == 1 ? size(size_of_first_extent) : integer(plan_.last);
  V rest = dims == 1 ? zero : unit, block = dims == 1 ? unit : zero;
  if (dims > 1 && plan_.cut) {
    // Rows in one piece are the most frequent ones, and a division takes as long as a short row.
    const V blocks = size(size_of_blocks);
    rest = ir_.if_then(gt(blocks, 1.0), unit, [&] { return divide(unit, blocks); });
    block = unit - rest * blocks;
  }
  const bool tiled = plan_.tile > 1;
  V tile_from = zero, tile_to = zero, outer = rest;
  for (std::size_t d = plan_.outer.size(); d-- > 0;) {
    const bool is_tile = tiled && d + 1 == plan_.outer.size();
    const std::int64_t extent = is_tile ? (plan_.outer[d] + plan_.tile - 1) / plan_.tile : plan_.outer[d];
    const V next = d == 0 ? zero : extent == 1 ? rest : divide(rest, integer(extent));
    Val x = index(d == 0 ? rest : rest - next * integer(extent));
    if (is_tile) {
      tile_from = x.re * integer(plan_.tile);
      const V end = tile_from + integer(plan_.tile);
      const V limit = d == 0 ? size(size_of_first_extent) : integer(plan_.outer[d]);
      tile_to = d == 0 || plan_.outer[d] % plan_.tile ? select(lt(end, limit), end, limit) : end;
      outer = next * limit;
      rest = next;
      continue;
    }
    x.non_negative = true;
    define(body.arguments[d], x);
    rest = next;
  }
  V low = zero, high = last;
  if (plan_.cut) {
    low = block * size(size_of_block);
    const V end = low + size(size_of_block);
    high = select(lt(end, last), end, last);
  }
  const V row = outer * last;
  // Blocks are whole vectors, so that where rows are too, no range ends within one.
  const std::int64_t known = dims == 1 ? -1 : !plan_.cut ? plan_.last : plan_.last % plan_.lanes ? -1 : plan_.lanes;
  forms_ = plan_.forms;
  const RegionId points = g_.node(plan_.node).regions[0];
  vector_range(low, high, plan_.lanes, known, [&](const Val& i) {
    define(body.arguments[dims - 1], i);
    if (!tiled) {
      point_ = row + i.re;
      region(points, {});
      return;
    }
    ir_.loop(tile_from, tile_to, 1, [&](V t) {
      Val x = index(t);
      x.non_negative = true;
      define(body.arguments[dims - 2], x);
      point_ = (outer + t) * last + i.re;
      region(points, {});
    });
  });
}

V Kernel::lanes_below(V from, V to) const {
  const V left = resize_signed(to - from, ir_.i32);
  return lt(ir_.iota(ir_.i32, lanes_), ir_.splat(left, lanes_));
}

void Kernel::vector_range(V low, V high, int lanes, std::int64_t known_count,
                          const std::function<void(const Val&)>& body, int turns) {
  const int outside = lanes_;
  const V outside_mask = mask_;
  lanes_ = lanes;
  mask_ = {};
  auto position = [&](V i) {
    Val x = index(i);
    x.stride = lanes > 1 ? 1 : 0;
    x.non_negative = true;
    return x;
  };
  if (lanes == 1) ir_.loop(low, high, 1, [&](V i) { body(position(i)); });
  else {
    const bool whole = known_count >= 0 && known_count % lanes == 0;
    if (known_count <= 0 || known_count % (turns * lanes) != 0) turns = 1;
    const auto trip = [&](V i) {
      for (turn_ = 0; turn_ < turns; ++turn_) body(position(i + ir_.integer(ir_.i64, std::int64_t{turn_} * lanes)));
      turn_ = 0;
    };
    if (known_count < 0 || known_count >= lanes)
      ir_.loop(low, whole ? high : high - ir_.integer(ir_.i64, lanes - 1), std::int64_t{turns} * lanes, trip);
    if (!whole) {
      const V count = high - low;
      const V from =
          known_count >= 0 && known_count < lanes ? low : low + bits_and(select(lt(count, 0.0), 0.0, count), -lanes);
      const LLVMBasicBlockRef tail = ir_.block("tail"), done = ir_.block("tail.done");
      ir_.branch(lt(from, high), tail, done);
      ir_.at(tail);
      mask_ = lanes_below(from, high);
      body(position(from));
      ir_.jump(done);
      ir_.at(done);
    }
  }
  lanes_ = outside;
  mask_ = outside_mask;
}

std::vector<Val> Kernel::region(RegionId r, std::span<const Val> arguments) {
  const Region& body = g_.region(r);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    Val x = arguments[i];
    if (uses(body.arguments[i]) != 1) x.factor_a = x.factor_b = {};
    define(body.arguments[i], x);
  }
  for (NodeId id : body.nodes) node(id, g_.node(id));
  std::vector<Val> results;
  for (ValueId v : body.results) results.push_back(value(v));
  return results;
}

Val Kernel::constant(const Node& n) {
  const HostTensor& t = n.attrs.as<ops::ConstantAttrs>().value;
  if (t.rank() != 0) refuse("constant", "a kernel body holds scalars only");
  const DType d = t.dtype();
  const LLVMTypeRef type = register_type(ir_, d);
  if (is_complex(d)) return {d, ir_.real(type, t.get_c128(0).real()), ir_.real(type, t.get_c128(0).imag())};
  if (float8.contains(d)) return {d, ir_.integer(type, static_cast<std::int64_t>(*t.data()))};
  if (is_floating(d)) return {d, ir_.real(type, t.get_f64(0))};
  const std::int64_t x = d == DType::u64 ? static_cast<std::int64_t>(t.get_u64(0)) : t.get_i64(0);
  Val v{d, ir_.integer(type, x)};
  v.non_negative = x >= 0;
  return v;
}

void Kernel::node(NodeId id, const Node& n) {
  const std::string_view op = n.op->name();
  if (op == "constant") return define(n.results[0], constant(n));
  if (op == "lir.load") return load(id, n);
  if (op == "lir.store") return store(id, n);
  if (op == "lir.for") return for_loop(id, n);
  if (op == "lir.reduce") return reduce(id, n);
  if (op == "lir.if_then") return if_then(n);
  if (op == "lir.check") return check(id, n);
  if (op == "lir.size") {
    Val x = index(sizes_of_body_.at(id));
    x.non_negative = true;
    return define(n.results[0], x);
  }
  if (op.starts_with("lir.")) refuse(op, "not in a kernel body on the host");
  std::vector<Val> in;
  for (ValueId v : n.operands) in.push_back(value(v));
  Val out;
  if (machine_.slow_gathers && op == "min" && clamped_index(n, in, out)) return define(n.results[0], out);
  if (index_arithmetic(n, op, in, out)) return define(n.results[0], out);
  // A divisor that all lanes share stays a scalar.
  if (op == "div" && is_floating(in[0].dtype) && !is_scalar(in[0]) && is_scalar(in[1])) in[0] = widened(in[0]);
  else match(in);
  out = elementwise(ir_, machine_, n, in);
  if (op == "mul" && (out.dtype == DType::f32 || out.dtype == DType::f64) && uses(n.results[0]) == 1) {
    out.factor_a = in[0].re;
    out.factor_b = in[1].re;
  }
  define(n.results[0], out);
}

// An index that is in range takes one comparison, without which the two of the clamp are what a short segment waits
// for.
bool Kernel::clamped_index(const Node& n, std::span<const Val> in, Val& out) {
  const NodeId raised = g_.value(n.operands[0]).node;
  if (raised < 0 || g_.node(raised).op->name() != "max" || in[0].dtype != DType::i64 || !in[1].non_negative ||
      !is_scalar(in[0]) || !is_scalar(in[1]) || constant_i64(g_, g_.node(raised).operands[1]) != 0)
    return false;
  const Val& x = value(g_.node(raised).operands[0]);
  if (!is_scalar(x)) return false;
  out = index(ir_.if_rarely(ult(in[1].re, x.re), x.re, [&] { return ir_.binary("llvm.smin", in[0].re, in[1].re); }));
  out.non_negative = true;
  return true;
}

bool Kernel::index_arithmetic(const Node& n, std::string_view op, std::span<const Val> in, Val& out) {
  if (n.results.size() != 1 || g_.tensor_type(n.results[0]).dtype != DType::i64 || in.empty() || in.size() > 2)
    return false;
  for (const Val& x : in)
    if (x.dtype != DType::i64) return false;
  const Val& a = in[0];
  const Val& b = in.back();
  const bool non_negative = a.non_negative && b.non_negative;
  const bool plain = op == "add" || op == "sub" || op == "mul" || op == "neg";
  if (plain) {
    auto form = [&](const Val& x) -> LaneForm {
      if (x.stride) return {LaneForm::Kind::linear, x.stride};
      return {is_scalar(x) ? LaneForm::Kind::uniform : LaneForm::Kind::varying};
    };
    const LaneForm f = linear_result(op, form(a), in.size() == 2 ? form(b) : LaneForm{},
                                     constant_i64(g_, n.operands[0]), constant_i64(g_, n.operands.back()));
    if (f.kind == LaneForm::Kind::varying) return false;
    out = index(op == "neg" ? -a.re : op == "add" ? a.re + b.re : op == "sub" ? a.re - b.re : a.re * b.re);
    out.stride = f.stride;
    out.non_negative = non_negative && (op == "add" || op == "mul");
    return true;
  }
  if ((op == "div" || op == "rem") && non_negative) {
    const auto by = constant_i64(g_, n.operands[1]);
    if (!by || *by <= 0) return false;
    auto quotient = [&](V x) { return ir_.wrap(LLVMBuildUDiv(ir_.b, x.v, number(x, static_cast<double>(*by)).v, "")); };
    const bool linear = a.stride > 0 && a.stride * lanes_ <= *by && *by < (std::int64_t{1} << 31);
    if (!linear && !is_scalar(a)) return false;
    V q = quotient(a.re), r = a.re - q * number(q, static_cast<double>(*by));
    if (linear) {
      // The lanes of one vector pass a multiple of the divisor at most once: a comparison replaces their divisions.
      const V sum = ir_.splat(r, lanes_) + ir_.iota(ir_.i64, lanes_, a.stride);
      const V over = ge(sum, static_cast<double>(*by));
      q = ir_.splat(q, lanes_) + resize_unsigned(over, ir_.i64);
      r = select(over, sum - static_cast<double>(*by), sum);
    }
    out = index(op == "div" ? q : r);
    out.non_negative = true;
    return true;
  }
  return false;
}

}  // namespace rlx::emit_llvm

#include "api/trace.hpp"

#include <rlx/ops/build.hpp>
#include <rlx/transform/simplify.hpp>

#include <cstdint>
#include <utility>

namespace rlx {

TraceError::~TraceError() = default;

namespace detail {
namespace {

thread_local std::shared_ptr<Frame> innermost;

/// Elements up to which a concrete tensor is written into the graph, where it can be folded; larger ones become inputs.
constexpr std::int64_t constant_elements = 16;

std::string address(const void* p) { return std::to_string(reinterpret_cast<std::uintptr_t>(p)); }

/// Names the storage of a concrete value, which `Frame::captured` keeps alive and so unique.
std::string identity(const HostValue& v, const Type& type) {
  if (const auto* t = std::get_if<HostTensor>(&v)) return "t" + address(t->data()) + to_string(type);
  if (const auto* s = std::get_if<HostSparse>(&v))
    return "s" + address(s->offsets.data()) + "," + address(s->indices.data()) + "," + address(s->values.data()) +
           to_string(type);
  if (const auto* r = std::get_if<HostResource>(&v)) return "r" + address(r->data.get()) + to_string(type);
  throw InternalError("a token cannot be captured");
}

bool is_around(const Frame* outer, const Frame* inner) {
  for (const Frame* f = inner; f; f = f->parent.get())
    if (f == outer) return true;
  return false;
}

}  // namespace

Frame::Frame(const std::string& name, std::shared_ptr<Frame> around)
    : graph(name), builder(graph, default_catalog().operators), parent(std::move(around)) {}

Value Frame::capture(const Handle& h, const Type& type, const std::string& key) {
  const auto [it, is_new] = known_.try_emplace(key, -1);
  if (is_new) {
    it->second = builder.input(type, "captured" + std::to_string(captured.size())).id;
    captured.push_back(h);
  }
  return builder.value(it->second);
}

Value Frame::lift(const Handle& h) {
  h.require_defined("is used in \"" + graph.name + "\"");
  if (!h.is_traced()) {
    if (const auto* t = std::get_if<HostTensor>(&h.host()); t && t->numel() <= constant_elements)
      return ops::constant(builder, *t);
    const Type type = h.type();
    return capture(h, type, identity(h.host(), type));
  }
  const Traced& t = h.traced();
  if (t.frame.get() == this) return builder.value(t.id);
  if (!t.frame->open)
    throw TraceError("a traced tensor of \"" + t.frame->graph.name + "\" is used in \"" + graph.name +
                     "\" after the function that made it returned: return it from that function instead");
  if (!is_around(t.frame.get(), this))
    throw TraceError("a traced tensor of \"" + t.frame->graph.name + "\" is used in \"" + graph.name +
                     "\", which is another trace");
  return capture(h, t.frame->graph.type(t.id), "v" + address(t.frame.get()) + "," + std::to_string(t.id));
}

Values Frame::lift(const Handles& hs) {
  Values out;
  for (const Handle& h : hs) out.push_back(lift(h));
  return out;
}

Handles Frame::handles(const Values& vs) {
  Handles out;
  for (const Value& v : vs) out.push_back(handle(v));
  return out;
}

Handles Frame::operands(const Handles& arguments) const {
  Handles out = arguments;
  out.insert(out.end(), captured.begin(), captured.end());
  return out;
}

const std::shared_ptr<Frame>& current_frame() { return innermost; }

std::shared_ptr<const Frame> trace(const std::string& name, const Types& inputs,
                                   const std::function<Handles(const Handles&)>& body, const Location& where) {
  const auto frame = std::make_shared<Frame>(name, innermost);
  // A function without a location, as a library's own are, gives none to those inside it.
  const Location* outer = innermost ? &innermost->builder.location() : nullptr;
  frame->builder.set_location(outer && (where.file.empty() || outer->file.empty()) ? *outer : where);
  struct Scope {
    std::shared_ptr<Frame> frame, outer = std::exchange(innermost, frame);
    ~Scope() { frame->open = false, innermost = outer; }
  } scope{frame};
  Handles arguments;
  for (const Type& t : inputs)
    arguments.push_back(frame->handle(frame->builder.input(t, "x" + std::to_string(arguments.size()))));
  const Handles results = body(arguments);
  const CatalogLock lock(catalog_mutex());
  for (std::size_t i = 0; i < results.size(); ++i)
    frame->builder.output(frame->lift(results[i]), "y" + std::to_string(i));
  return frame;
}

Graph simplified(const Graph& g) {
  const CatalogLock lock(catalog_mutex());
  return transform::simplify(g, default_catalog().operators);
}

Types types_of(const Handles& hs) {
  Types out;
  for (const Handle& h : hs) out.push_back(h.type());
  return out;
}

HostValues host_values(const Handles& hs) {
  HostValues out;
  for (const Handle& h : hs) out.push_back(h.host());
  return out;
}

Handles handles_of(HostValues values) {
  Handles out;
  for (HostValue& v : values) out.emplace_back(std::move(v));
  return out;
}

bool differentiable(const Type& t) {
  if (const auto* x = std::get_if<TensorType>(&t))
    return (is_floating(x->dtype) || is_complex(x->dtype)) && !x->quantization;
  const auto* s = std::get_if<SparseType>(&t);
  return s && s->format == SparseFormat::csr && (is_floating(s->dtype) || is_complex(s->dtype));
}

}  // namespace detail

bool is_tracing() { return detail::current_frame() != nullptr; }

void Handle::require_defined(const std::string& use) const {
  if (defined()) return;
  const auto* d = std::get_if<detail::Donated>(&held_);
  throw ArgumentError(d ? "a tensor that was donated as " + d->to + " " + use
                        : "a tensor that was never given a value " + use);
}

Type Handle::type() const {
  require_defined("has no type");
  return is_traced() ? traced().frame->graph.type(traced().id) : type_of(std::get<HostValue>(held_));
}

const HostValue& Handle::host() const {
  require_defined("has no elements");
  if (const auto* v = std::get_if<HostValue>(&held_)) return *v;
  const detail::Frame& f = *traced().frame;
  throw TraceError(
      "the elements of a traced tensor (" + to_string(type()) + " in \"" + f.graph.name + "\") " +
      (f.open ? "are not known while the function is traced: choose between values with rlx::where, between "
                "computations with "
                "rlx::cond, and loop with rlx::while_loop instead of C++ control flow"
              : "are lost, because the function that made it has returned: return it from that function instead"));
}

}  // namespace rlx

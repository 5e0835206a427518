// What runs at once: graphs over concrete values, compiled for the default device and kept by their text, in which the
// locations of transformed functions are: errors at run time name them.
#include "api/program.hpp"
#include "api/trace.hpp"
#include "ir/within.hpp"
#include "runtime/kept.hpp"

#include <rlx/ir/text.hpp>
#include <rlx/runtime/backends.hpp>

#include <cstdlib>

namespace rlx {

std::string default_device() {
  if (const char* name = std::getenv("RLX_DEVICE"); name && *name) return name;
  static const std::string found = [] {
    const std::span<const runtime::BackendEntry* const> all = runtime::backends();
    for (const runtime::BackendEntry* b : all)
      if (!b->for_tests && b->availability().available) return std::string(b->name);
    return std::string(all.front()->name);  // The host references, which are always there.
  }();
  return found;
}

namespace detail {
namespace {

/// Programs kept at once, those used last; only an unusual variety of shapes takes more.
constexpr std::size_t kept_programs = 4096;

std::shared_ptr<const CompiledProgram> cached_program(const Graph& g) {
  // Never destroyed: statics of the user's may still compute at the end of the process.
  static auto& programs = *new runtime::Kept<std::string, const CompiledProgram>(kept_programs);
  const std::string device = default_device();
  return programs.get(device + "\n" + print(g),
                      [&] { return std::make_shared<const CompiledProgram>(device, g, options_from_environment()); });
}

}  // namespace

CompiledProgram::CompiledProgram(const std::string& device, const Graph& g, const CompileOptions& options)
    : device_(runtime::open_device(device)), executable_([&] {
        const CatalogLock lock(catalog_mutex());
        return runtime::Executable(device_, g, default_catalog(), options);
      }()) {}

HostValues CompiledProgram::run(const HostValues& arguments) const {
  if (!device_->target().interprets()) return executable_.run(arguments);
  const CatalogLock lock(catalog_mutex());  // The interpreter looks operators up as it goes.
  return executable_.run(arguments);
}

HostValues CompiledProgram::run_donating(HostValues& arguments) const {
  if (!device_->target().interprets()) return executable_.run_donating(arguments);
  const CatalogLock lock(catalog_mutex());
  return executable_.run_donating(arguments);
}

Handles apply_graph(const Graph& g, const Handles& operands) {
  if (const auto& frame = current_frame()) {
    const CatalogLock lock(catalog_mutex());
    return frame->handles(frame->builder.inline_region(g, Graph::top, frame->lift(operands)));
  }
  const HostValues arguments = host_values(operands);
  return handles_of(cached_program(g)->run(arguments));
}

}  // namespace detail

namespace {

/// f(), of which what is refused is told as the caller's function's, and as of `at` where it has no place.
template <class F>
auto told_as(const Caller& caller, const Location& at, const F& f) {
  try {
    return f();
  } catch (const VerifyError&) {
    try {
      if (caller.function.empty()) throw;
      detail::rethrow_within(caller.function, "operators");
    } catch (const VerifyError&) { detail::rethrow_at(at); }
  } catch (const ArgumentError& e) {
    if (std::string_view(e.what()).starts_with(caller.function)) throw;
    throw ArgumentError(std::string(caller.function) + ": " + e.what());
  }
}

}  // namespace

Handles build(const Handles& operands, const std::function<Values(Builder&, ValuesIn)>& emit, const Caller& caller) {
  Location at = caller.here.location();
  if (const auto& frame = detail::current_frame()) {
    const detail::CatalogLock lock(detail::catalog_mutex());
    Builder& b = frame->builder;
    struct Restore {
      Builder& b;
      Location of_function;
      ~Restore() { b.set_location(std::move(of_function)); }
    } restore{b, b.location()};
    if (!at.file.empty() && !b.location().file.empty()) b.set_location(std::move(at));
    return frame->handles(told_as(caller, {}, [&] { return emit(b, frame->lift(operands)); }));
  }
  // Operands are inputs even where they are numbers: one program serves x * dt for every dt.
  // It is called as the function; its nodes have no location, since the program serves other calls too.
  Graph g(caller.function.empty() ? "eager" : std::string(caller.function));
  told_as(caller, at, [&] {
    detail::host_values(operands);
    const detail::CatalogLock lock(detail::catalog_mutex());
    Builder b(g, default_catalog().operators);
    Values in;
    for (const Handle& h : operands) in.push_back(b.input(h.type(), "x" + std::to_string(in.size())));
    const Values out = emit(b, in);
    for (std::size_t i = 0; i < out.size(); ++i) b.output(out[i], "y" + std::to_string(i));
  });
  try {
    return detail::apply_graph(g, operands);
  } catch (const ArgumentError& e) {  // Of an index, say, which names the program and a node.
    if (at.file.empty()) throw;
    throw ArgumentError(e.what() + (" (" + at.to_string() + ")"));
  }
}

Handles call(std::string_view op, const Handles& operands, AnyAttrs attrs, Here here) {
  return build(operands, [&](Builder& b, ValuesIn in) { return b.emit(op, in, attrs); }, {{}, here});
}

}  // namespace rlx

// What runs at once: graphs over concrete values, compiled for the default device and kept by their text.
#include "api/program.hpp"
#include "api/trace.hpp"

#include <rlx/ir/text.hpp>
#include <rlx/runtime/backends.hpp>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

namespace rlx {

std::string default_device() {
  if (const char* name = std::getenv("RLX_DEVICE"); name && *name) return name;
  static const std::string found = [] {
    for (const runtime::BackendEntry* b : runtime::backends())
      if (b->name != "reference" && b->name != "null" && b->availability().available) return std::string(b->name);
    return std::string("reference");
  }();
  return found;
}

namespace detail {
namespace {

/// Programs kept at once; all are dropped when there are more, which only an unusual variety of shapes brings about.
constexpr std::size_t kept_programs = 4096;

std::shared_ptr<const CompiledProgram> cached_program(const Graph& g) {
  static std::mutex mutex;
  static auto& programs = *new std::unordered_map<std::string, std::shared_ptr<const CompiledProgram>>;
  const std::string device = default_device(), key = device + "\n" + print(g, {.locations = false});
  {
    const std::lock_guard lock(mutex);
    if (const auto it = programs.find(key); it != programs.end()) return it->second;
  }
  // Compiled without the lock: two threads may do it twice, none waits for another's program.
  auto made = std::make_shared<const CompiledProgram>(device, g, options_from_environment());
  const std::lock_guard lock(mutex);
  if (programs.size() >= kept_programs) programs.clear();
  return programs.try_emplace(key, std::move(made)).first->second;
}

}  // namespace

CompiledProgram::CompiledProgram(const std::string& device, const Graph& g, const CompileOptions& options)
    : device_(runtime::open_device(device)),
      executable_([&] {
        const CatalogLock lock(catalog_mutex());
        return runtime::Executable(device_, g, default_catalog(), options);
      }()),
      looks_up_(device_->target().interprets ||
                std::ranges::any_of(report().steps, [](const StepRow& s) { return s.kind == "size point"; })) {}

HostValues CompiledProgram::run(const HostValues& arguments) const {
  const CatalogLock lock = looks_up_ ? CatalogLock(catalog_mutex()) : CatalogLock();
  return executable_.run(arguments);
}

HostValues CompiledProgram::run_donating(HostValues& arguments) const {
  const CatalogLock lock = looks_up_ ? CatalogLock(catalog_mutex()) : CatalogLock();
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

Handles build(const Handles& operands, const std::function<Values(Builder&, ValuesIn)>& emit) {
  if (const auto& frame = detail::current_frame()) {
    const detail::CatalogLock lock(detail::catalog_mutex());
    return frame->handles(emit(frame->builder, frame->lift(operands)));
  }
  // Operands are inputs even where they are numbers: one program serves x * dt for every dt.
  detail::host_values(operands);
  Graph g("eager");
  {
    const detail::CatalogLock lock(detail::catalog_mutex());
    Builder b(g, default_catalog().operators);
    Values in;
    for (const Handle& h : operands) in.push_back(b.input(h.type(), "x" + std::to_string(in.size())));
    const Values out = emit(b, in);
    for (std::size_t i = 0; i < out.size(); ++i) b.output(out[i], "y" + std::to_string(i));
  }
  return detail::apply_graph(g, operands);
}

Handles call(std::string_view op, const Handles& operands, AnyAttrs attrs) {
  return build(operands, [&](Builder& b, ValuesIn in) { return b.emit(op, in, attrs); });
}

}  // namespace rlx

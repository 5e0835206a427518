#include <rlx/runtime/executable.hpp>

#include "runtime/compiled_graph.hpp"
#include "runtime/split_program.hpp"

#include <rlx/ir/evaluate.hpp>

namespace rlx::runtime {

std::vector<KernelRecord> records_of(const Device& d, const Catalog& c) {
  std::vector<KernelRecord> out(d.records().begin(), d.records().end());
  if (const auto it = c.records.find(d.target().device); it != c.records.end())
    out.insert(out.end(), it->second.begin(), it->second.end());
  return out;
}

void Inputs::check(std::span<const HostValue> arguments) const {
  if (arguments.size() != types.size())
    throw ArgumentError("\"" + graph + "\" takes " + std::to_string(types.size()) + " arguments, " +
                        std::to_string(arguments.size()) + " given");
  Bindings none;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    bind_symbols(types[i], type_of(arguments[i]), "argument \"" + names[i] + "\"", none);
}

std::unique_ptr<CompiledGraph> compiled_graph(std::shared_ptr<Device> device, const Graph& hir, const Catalog& catalog,
                                              const CompileOptions& options, const RowNames& names) {
  if (compile::has_size_point(hir, device->target(), options))
    return split_program(std::move(device), hir, catalog, options, names);
  return one_program(std::move(device), hir, catalog, options, names);
}

void RowNames::put(DispatchReport& report) const {
  for (std::size_t i = 0; i < values.size() && i < report.rows.size(); ++i) {
    report.rows[i].value = values[i];
    report.rows[i].region = regions[i];
  }
}

class Executable::Impl {
 public:
  std::unique_ptr<CompiledGraph> graph;
};

Executable::Executable(std::shared_ptr<Device> device, const Graph& hir, const Catalog& catalog,
                       const CompileOptions& options)
    : impl_(std::make_unique<Impl>(Impl{compiled_graph(std::move(device), hir, catalog, options)})) {}
Executable::~Executable() = default;
Executable::Executable(Executable&&) noexcept = default;
Executable& Executable::operator=(Executable&&) noexcept = default;
HostValues Executable::run(std::span<const HostValue> arguments, HostValues reuse) const {
  return impl_->graph->run(arguments, std::move(reuse));
}
const DispatchReport& Executable::report() const { return impl_->graph->report(); }
const Graph& Executable::lir() const { return impl_->graph->lir(); }
ExecutableStatistics Executable::statistics() const { return impl_->graph->statistics(); }
std::int64_t Executable::bytes_per_call() const { return impl_->graph->bytes_per_call(); }

}  // namespace rlx::runtime

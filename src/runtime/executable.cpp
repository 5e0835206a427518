#include <rlx/ir/counted.hpp>
#include <rlx/runtime/executable.hpp>

#include "runtime/compiled_graph.hpp"
#include "runtime/loaded_program.hpp"
#include "runtime/split_program.hpp"
#include "runtime/symbolic_program.hpp"

#include <rlx/ir/bind.hpp>

#include <algorithm>
#include <map>

namespace rlx::runtime {

Inputs::Inputs(const Graph& g)
    : graph(g.name), types(g.types_of(g.inputs())), names(g.input_names), symbolic(!solvable_symbols(types).empty()) {}

std::vector<KernelRecord> records_of(const Device& d, const Catalog& c) {
  std::vector<KernelRecord> out(d.records().begin(), d.records().end());
  if (const auto it = c.records.find(d.target().device); it != c.records.end())
    out.insert(out.end(), it->second.begin(), it->second.end());
  return out;
}

// Most arguments are dense arrays of constant shape, about which there is nothing to say and nothing to bind.
static bool is_plainly(const Type& declared, const HostValue& v) {
  const auto* t = std::get_if<TensorType>(&declared);
  const auto* held = std::get_if<HostTensor>(&v);
  return t && held && t->dtype == held->dtype() && !t->layout && !t->sharding &&
         std::ranges::equal(t->shape, held->shape(),
                            [](const Dim& d, std::int64_t n) { return d.is_constant() && d.constant() == n; });
}

Bindings Inputs::check(std::span<const HostValue> arguments) const {
  if (arguments.size() != types.size())
    throw ArgumentError("\"" + graph + "\" takes " + counted(types.size(), "argument") + ", " +
                        std::to_string(arguments.size()) + " given");
  Bindings bindings;
  if (symbolic) solve_symbols(types, arguments, bindings);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!is_plainly(types[i], arguments[i]))
      bind_symbols(types[i], arguments[i], "argument \"" + names[i] + "\"", bindings);
  return bindings;
}

std::unique_ptr<CompiledGraph> compiled_graph(std::shared_ptr<Device> device, const Graph& hir, const Catalog& catalog,
                                              const CompileOptions& options, const RowNames& names) {
  if (!device->target().interprets() && !given_symbols(hir).empty())
    return symbolic_program(std::move(device), hir, catalog, options, names);
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
  Inputs inputs;
  std::vector<std::size_t> donated;
  std::unique_ptr<CompiledGraph> graph;

  /// Two results cannot be written over one array, and none over what is another's.
  void check_donated(std::span<const HostValue> arguments) const {
    inputs.check(arguments);
    std::map<const std::byte*, std::size_t> seen;
    for (std::size_t i : donated)
      for (const HostTensor* t : arrays(arguments[i])) {
        if (t->is_view())
          throw ArgumentError("argument \"" + inputs.names[i] +
                              "\" is donated, but its elements are another's (a file's, another library's): donate a "
                              "copy of them");
        if (const auto [it, is_new] = seen.try_emplace(t->data(), i); !is_new && t->data())
          throw ArgumentError("argument \"" + inputs.names[i] + "\" is donated twice: it is the memory of \"" +
                              inputs.names[it->second] + "\"");
      }
  }

  /// Whether a call that failed had begun: it leaves a token where a donated argument was.
  bool has_taken(std::span<const HostValue> arguments) const {
    return std::any_of(donated.begin(), donated.end(),
                       [&](std::size_t i) { return std::holds_alternative<HostToken>(arguments[i]); });
  }
};

Executable::Executable(std::shared_ptr<Device> device, const Graph& hir, const Catalog& catalog,
                       const CompileOptions& options)
    : impl_(std::make_unique<Impl>(
          Impl{Inputs(hir), options.donated, compiled_graph(std::move(device), hir, catalog, options)})) {}
Executable::~Executable() = default;
Executable::Executable(Executable&&) noexcept = default;
Executable& Executable::operator=(Executable&&) noexcept = default;
HostValues Executable::run(std::span<const HostValue> arguments, HostValues reuse) const {
  if (impl_->donated.empty()) return impl_->graph->run(Arguments::kept(arguments), std::move(reuse));
  HostValues shared(arguments.begin(), arguments.end());
  return impl_->graph->run(Arguments::given(shared), std::move(reuse));
}
HostValues Executable::run_donating(std::span<HostValue> arguments, HostValues reuse) const {
  impl_->check_donated(arguments);
  HostValues out;
  try {
    out = impl_->graph->run(Arguments::given(arguments), std::move(reuse));
  } catch (Error& e) {
    if (impl_->has_taken(arguments)) e.set_used_up();
    throw;
  }
  for (std::size_t i : impl_->donated) arguments[i] = HostToken{};  // Also what no step needed.
  return out;
}
const DispatchReport& Executable::report() const { return impl_->graph->report(); }
const Graph& Executable::lir() const { return impl_->graph->lir(); }
ExecutableStatistics Executable::statistics() const { return impl_->graph->statistics(); }
std::int64_t Executable::bytes_per_call() const { return impl_->graph->bytes_per_call(); }

}  // namespace rlx::runtime

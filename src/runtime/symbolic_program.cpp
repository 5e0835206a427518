#include "runtime/symbolic_program.hpp"

#include "runtime/kept_programs.hpp"
#include "runtime/trial_values.hpp"

#include <rlx/ir/bind.hpp>

#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

namespace rlx::runtime {

std::vector<std::string> given_symbols(const Graph& g) {
  const auto introduced = size_nodes(g);
  std::vector<std::string> out;
  for (const auto& [symbol, info] : g.symbols)
    if (!introduced.contains(symbol)) out.push_back(symbol);
  return out;
}

namespace {

class SymbolicProgram final : public CompiledGraph {
 public:
  SymbolicProgram(std::shared_ptr<Device> device, const Graph& hir, const Catalog& catalog,
                  const CompileOptions& options, const RowNames& names)
      : device_(std::move(device)), hir_(hir), catalog_(catalog), options_(options), names_(names), inputs_(hir) {
    const std::set<std::string> told = solvable_symbols(inputs_.types);
    for (const std::string& s : given_symbols(hir))
      if (!told.contains(s))
        throw ArgumentError("symbol \"" + s + "\" of graph \"" + hir.name +
                            "\" has no value, and no input's shape tells it: specialise the graph");
    plan();
  }

  HostValues run(Arguments arguments, HostValues reuse) override {
    const Bindings values = inputs_.check(arguments.values());
    const std::shared_ptr<CompiledGraph> program = programs_.get(values, [&] {
      const auto operators_stay = catalog_.stay();
      return made(values);
    });
    return program->run(arguments, std::move(reuse));
  }
  const DispatchReport& report() const override { return report_; }
  const Graph& lir() const override { return planned_->lir(); }
  std::int64_t bytes_per_call() const override { return latest()->bytes_per_call(); }
  ExecutableStatistics statistics() const override { return programs_.statistics(); }
  void add_codes(std::set<const void*>& codes) const override { programs_.add_codes(codes); }
  void trim() override { programs_.trim(); }

 private:
  /// What symbols are for the report, inside of their bounds; the next are tried where a constraint needs more.
  static constexpr std::int64_t planned_values[] = {1 << 10, 64, 1 << 16, 1 << 20, 1};

  void plan() {
    const std::vector<Predicate> guards = guards_of(hir_);
    planned_for_one_of(planned_values, [&](std::int64_t value) {
      Bindings values;
      for (const std::string& s : given_symbols(hir_)) {
        const SymbolInfo& i = hir_.symbols.find(s)->second;
        const std::int64_t inside = std::clamp(value, i.lower, i.upper), below = inside - inside % i.divisor;
        values[s] = below >= i.lower ? below : below + i.divisor;
      }
      values = satisfying(std::move(values), guards, hir_.symbols);
      planned_ = programs_.get(values, [&] { return made(values); });
      report_ = planned_->report();
      report_.planned_for = values;
    });
  }

  std::shared_ptr<CompiledGraph> made(const Bindings& values) const {
    return compiled_graph(device_, specialise(hir_, catalog_.operators, values), catalog_, options_, names_);
  }
  std::shared_ptr<const CompiledGraph> latest() const {
    const std::shared_ptr<const CompiledGraph> last = programs_.latest();
    return last ? last : planned_;
  }

  const std::shared_ptr<Device> device_;
  const Graph hir_;
  const Catalog& catalog_;
  const CompileOptions options_;
  const RowNames names_;
  const Inputs inputs_;
  KeptPrograms programs_{kept_programs};
  std::shared_ptr<const CompiledGraph> planned_;  // Kept besides: its code is there for whatever comes first.
  DispatchReport report_;
};

}  // namespace

std::unique_ptr<CompiledGraph> symbolic_program(std::shared_ptr<Device> device, const Graph& hir,
                                                const Catalog& catalog, const CompileOptions& options,
                                                const RowNames& names) {
  return std::make_unique<SymbolicProgram>(std::move(device), hir, catalog, options, names);
}

}  // namespace rlx::runtime

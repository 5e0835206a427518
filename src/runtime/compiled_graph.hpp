// What an Executable runs: one program, several with size points between them, or one for each value of its symbols.
#pragma once
#include "runtime/arguments.hpp"

#include <rlx/runtime/executable.hpp>

#include <set>

namespace rlx::runtime {

class CompiledGraph {
 public:
  virtual ~CompiledGraph() = default;
  /// As Executable's functions; takes the donated arguments, which the caller does not keep.
  virtual HostValues run(Arguments arguments, HostValues reuse) = 0;
  virtual const DispatchReport& report() const = 0;
  virtual const Graph& lir() const = 0;
  virtual std::int64_t bytes_per_call() const = 0;
  virtual ExecutableStatistics statistics() const = 0;
  /// Adds Module::code of each of its programs, as far as it is known.
  virtual void add_codes(std::set<const void*>& codes) const = 0;
  /// Gives back memory that is kept between calls.
  virtual void trim() = 0;
};

/// What the rows of a report are called, where the graph is a part of another one: as in that. Empty: as they are.
struct RowNames {
  std::vector<std::string> values{}, regions{};
  void put(DispatchReport& report) const;
};

/// A graph whose sizes, if it introduces any, are bounded. Results are cut to their sizes, or padded: in the buffers of
/// their bounds.
enum class Results : std::uint8_t { cut, padded };
std::unique_ptr<CompiledGraph> one_program(std::shared_ptr<Device> device, const Graph& hir, const Catalog& catalog,
                                           const CompileOptions& options, const RowNames& names = {},
                                           Results results = Results::cut);
/// Any graph: with plans for the values of its symbols (symbolic_program.hpp), and split where a size has no bound
/// (split_program.hpp).
std::unique_ptr<CompiledGraph> compiled_graph(std::shared_ptr<Device> device, const Graph& hir, const Catalog& catalog,
                                              const CompileOptions& options, const RowNames& names = {});

/// The records of a device with those that families bring for it.
std::vector<KernelRecord> records_of(const Device& device, const Catalog& catalog);

/// What a graph takes.
struct Inputs {
  explicit Inputs(const Graph& g);
  std::string graph;
  Types types;
  std::vector<std::string> names;
  bool symbolic;  ///< There are symbols in the types.
  /// Throws ArgumentError unless the arguments have these types; gives the values that make them so of symbols.
  Bindings check(std::span<const HostValue> arguments) const;
};

}  // namespace rlx::runtime

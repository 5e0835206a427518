// From a HIR graph to a LIR program for one target.
#pragma once
#include <rlx/compile/report.hpp>
#include <rlx/compile/target.hpp>
#include <rlx/ir/registry.hpp>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rlx {

enum class Preference : std::uint8_t {
  native,        ///< Records first, then generated code, decomposition, rules. The default.
  force_common,  ///< No library and no hand-written record: composites are decomposed, primitives generated.
  force_native,  ///< A composite without an accepting record is an error.
};

/// What name() gives and parse_preference() reads, for messages.
inline constexpr std::string_view preference_names = "prefer-native, force-common or force-native";
RLX_API std::string_view name(Preference p);
RLX_API std::optional<Preference> parse_preference(std::string_view name);

/// Whether programs check indices where nobody says: in debug builds of the library (CMake's configuration Debug),
/// however its user is compiled. RLX_CHECKED is not looked at: see options_from_environment.
RLX_API bool checked_by_default();

struct CompileOptions {
  Preference preference = Preference::native;
  std::map<std::string, Preference, std::less<>> per_operator{};
  bool reproducible = false;  ///< Records that are not deterministic refuse.
  /// An index out of range in gather or scatter is an ArgumentError of the run, which names the first one. Otherwise it
  /// is clamped or dropped, which is what the operators mean.
  bool checked = checked_by_default();
  bool fuse = true;  ///< False: one kernel a node, for tests.
  /// Subgraphs that are an operator written out are resolved as that operator. Not under check_numerics, which names
  /// nodes as they were written.
  bool recognise = true;
  /// The executable looks at every value that a step stores, which makes it slow: see Executable::run. Not fused.
  bool check_numerics = false;
  /// Every size that a result introduces is read by the host, and what follows is compiled for exactly that number: no
  /// padding, and nothing is refused for it, but one compilation a number.
  bool exact_sizes = false;
  /// Inputs (places in the graph's list, tensors and sparse matrices) whose memory the caller gives away: results of
  /// their type are written over them where no later step reads them. DispatchReport::donations says which.
  std::vector<std::size_t> donated{};
};

/// A size that the user's graph introduces in its top region: results that have it stand in buffers of its bound, and
/// the program returns its value besides.
struct SizeResult {
  std::string symbol;
  std::int64_t bound;
};

/// A lowered program: steps and kernels with a planned arena, and how each node was resolved.
struct Program {
  Graph mir;  ///< What dispatch made of the user's graph.
  Graph lir;  ///< Empty for a target that interprets MIR.
  DispatchReport report;
  std::int64_t arena_bytes = 0;
  /// The graphs' outputs after those of the user: one i64 scalar each.
  std::vector<SizeResult> sizes{};
};

/// Policies set by the environment: RLX_POLICY ("force-common,softmax=prefer-native"), RLX_REPRODUCIBLE, RLX_CHECKED,
/// RLX_RECOGNISE and RLX_CHECK_NUMERICS (0 or 1). A variable that is empty is one that is not set. Of compiled
/// functions, tensors and the program: an Executable takes its options as they are.
RLX_API CompileOptions options_from_environment(CompileOptions defaults = {});

/// `hir` has constant shapes (specialise it first) but for sizes that it introduces, unless the target interprets.
/// Verifies after every pass. Throws CompileError or VerifyError, and ArgumentError that names a symbol without a
/// value.
RLX_API Program compile_program(const Graph& hir, const Registry& registry, const Target& target,
                                std::span<const KernelRecord> records, const CompileOptions& options = {});

/// `g` with its symbols replaced by values.
RLX_API Graph specialise(const Graph& g, const Registry& registry, const Bindings& bindings);

}  // namespace rlx

// Conformance: what the definitions of operators promise, checked. Every case is made from a sample of an operator;
// nobody writes one by hand. Of each element type that an operand claims and the device stores there are samples: those
// that no definition has are made of one in another type, for each form of the operator (region, words of attributes)
// that the type can have.
//
// On every device: value (against the host reference, on each path that exists), literal (against numbers checked by
// hand), decomposition (a native record against the decomposition on the same device), claim (failed: of a type that an
// operand claims there is no sample, and none can be made). On the reference device also what needs no other: gradient
// (against finite differences), adjoint (<u, Jv> = <J^T u, v>), batch (equals a loop), shard (two and four parts equal
// the whole), round_trip (print, parse, print), refusal (a sample that breaks a constraint is refused for it, and each
// constraint has one), cost, rules (none is Never{"todo"}). What differentiation and batching make of a graph that
// looks at no index out of range may look at none either. A device that does not compute has no values: its cases are
// plans.
#pragma once
#include <rlx/compile/compile.hpp>
#include <rlx/runtime/catalog.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rlx::conformance {

/// refused: by contract (CompileError, or a rule that answers Never), with the reason. failed: anything else, a bug.
enum class Outcome : std::uint8_t { passed, refused, failed };
RLX_API std::string_view name(Outcome o);

struct CaseResult {
  /// "ops.softmax.value.cpu.f32.0": operator, kind, device, dtype, place in the list of samples; or "like0", made of
  /// that one.
  std::string name;
  std::string op, dtype, kind, rung;
  std::string path{};  ///< "common" where the common path was forced beside the default one; ends the name.
  Outcome outcome = Outcome::passed;
  std::string reason{};  ///< Why it was refused or failed; a remark where it passed.
};

struct Progress {
  std::string_view op;
  std::size_t done = 0, total = 0;  ///< Operators.
};

struct Options {
  std::string device{};  ///< As runtime::open_device takes it.
  std::string filter{};  ///< Operators whose name contains it; only the one of that name, where there is one.
  /// Also what takes long: batching along every operand, more directions of each gradient, element types of samples
  /// that differ in flags alone.
  bool full = false;
  CompileOptions compile{};  ///< Policies of the default path.
  std::function<void(const Progress&)> progress{};
};

struct Counts {
  std::size_t passed = 0, refused = 0, failed = 0;
  std::size_t total() const { return passed + refused + failed; }
};

/// An operator with the dtype of the operand that takes the most dtypes; of several, of the first.
struct Pair {
  std::string op, dtype, reason;
};

struct RLX_API Summary {
  std::string device;
  std::vector<CaseResult> cases{};
  Counts counts{};
  std::vector<std::pair<std::string, Counts>>
      rungs{};                  ///< In the order of the ladder; rungs without cases are left out.
  std::size_t pairs = 0;        ///< All that operators claim and the device stores; Extern operators apart.
  std::vector<Pair> refused{};  ///< Of these, the ones with a value case that the default path refuses.
  std::vector<Pair> extern_refused{};
  std::map<std::string, std::size_t> skipped{};  ///< Cases that cannot be made, by reason.

  double refused_share() const { return pairs ? static_cast<double>(refused.size()) / static_cast<double>(pairs) : 0; }
  std::string to_table() const;  ///< Counts a rung, then what was refused and what failed, each with its reason.
  /// One object; README.md has its keys.
  std::string to_json() const;
};

/// Runs the cases of every operator of the catalog. Throws ArgumentError for an unknown device or a filter that no
/// operator meets, DeviceError for a device that is not available; nothing else that a case may raise leaves it.
RLX_API Summary run(const runtime::Catalog& catalog, const Options& options);

}  // namespace rlx::conformance

// What the kinds of cases share: instances made of samples, the list of results, and one function a kind.
#pragma once
#include <rlx/conformance.hpp>
#include <rlx/ir/evaluate.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/runtime/backend.hpp>

#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rlx::conformance {

/// One sample as a graph of one node, with its operands; where it has resources, of what makes and reads them besides.
struct Instance {
  const Op* op;
  std::size_t index;  ///< Place in the operator's list of samples; those of derived ones follow.
  std::string tail;   ///< That place, or "like3": of sample 3 in another element type.
  AnySample sample;
  std::string dtype;  ///< Of the determining operand (claims.hpp); of the first result where there is none.
  Graph graph;
  NodeId at;                          ///< The operator's node.
  std::vector<SampleOperand> inputs;  ///< Of the graph: the sample's operands, and what resources are made of.
  HostValues in;                      ///< One an input.
  const Node& node() const { return graph.node(at); }
  Types operand_types() const { return graph.types_of(node().operands); }
};

/// What a case says of itself besides its outcome.
struct CaseOf {
  const Op& op;
  std::string_view kind, device;
  std::string dtype{}, tail{};  ///< tail: what the name has after the dtype.
  std::string path{};           ///< CaseResult::path.
};
/// A case of an instance; `path` is empty on the default one.
CaseOf case_of(const Instance& i, std::string_view kind, std::string_view device, std::string path = {});

/// "CompileError: why", on one line.
std::string text_of(const std::exception& e);

class Collector {
 public:
  Collector(Summary& summary, const Options& options, const Registry& registry)
      : summary_(summary), options_(options), registry_(registry) {}
  const Options& options() const { return options_; }
  const std::string& device() const { return options_.device; }
  const Registry& registry() const { return registry_; }

  void add(const CaseOf& c, Outcome o, std::string reason = {});
  /// Passed where `difference` is empty.
  void judge(const CaseOf& c, std::string difference) {
    const Outcome o = difference.empty() ? Outcome::passed : Outcome::failed;  // before `difference` is moved from
    add(c, o, std::move(difference));
  }
  /// A case that belongs to no operator; passed where `why` is empty.
  void add_plain(std::string name, std::string kind, std::string_view rung, std::string why);
  /// A case of some kind that a sample, or an operator, cannot have.
  void skip(const std::string& reason) { ++summary_.skipped[reason]; }

  /// Runs `body`, which adds the case itself; what it throws is a refusal (CompileError) or a failure.
  template <class F>
  void guarded(const CaseOf& c, F body) {
    try {
      body();
    } catch (const CompileError& e) { add(c, Outcome::refused, text_of(e)); } catch (const std::exception& e) {
      add(c, Outcome::failed, text_of(e));
    }
  }

  /// Handles what asking a rule threw: a rule that answers Never has no cases, one that meets another operator's Never,
  /// or refuses this instance, is refused; anything else is rethrown.
  void rule_refused(const CaseOf& c, std::string_view rule, Op::RuleInfo info, const VerifyError& e);

 private:
  Summary& summary_;
  const Options& options_;
  const Registry& registry_;
};

/// Throws what emission throws.
Instance instance_of(const Op& op, std::size_t index, AnySample sample, const Registry& registry, std::string tail);

/// Of which forms of an operator (region, words of attributes) an element type without a sample gets instances: of one,
/// where compilation is slow.
enum class Forms : std::uint8_t { one, all };

/// The samples of an operator that are no refusals, and what proves the element types that it claims besides, of those
/// that the target stores. One that cannot be built is a failed case, one without values is skipped, and so is one that
/// communicates, but where the host's references run.
std::vector<Instance> instances_of(const Op& op, const Target& target, Forms forms, Collector& out);

/// Reference results; an instance without them has failed already.
struct Expected {
  const Instance* instance;
  HostValues values;
};
std::vector<Expected> expected_of(std::span<const Instance> instances, std::string_view device, Collector& out);

// One a group of kinds, in the file of its name.
void check_definition(const Op& op, Collector& out);                         ///< rules, refusal
void check_graphs(std::span<const Instance> instances, Collector& out);      ///< round_trip, decomposition, cost
void check_derivatives(std::span<const Expected> expected, Collector& out);  ///< gradient, adjoint
void check_batching(std::span<const Expected> expected, Collector& out);     ///< batch
void check_sharding(std::span<const Expected> expected, Collector& out);     ///< shard
void check_values(std::span<const Expected> expected, const std::shared_ptr<runtime::Device>& device,
                  const runtime::Catalog& catalog,
                  Collector& out);                           ///< value, literal, decomposition; plan on the null device
void check_memory(runtime::Device& device, Collector& out);  ///< The first rung, which needs no operator.

}  // namespace rlx::conformance

// Cases to time, made from the samples of operators: what proves an operator is what it is timed on, made larger.
#pragma once
#include <rlx/ir/graph.hpp>
#include <rlx/ir/host_value.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ir/registry.hpp>

#include <optional>
#include <string>
#include <vector>

namespace rlx::bench {

/// How a sample was made larger.
enum class Growth : std::uint8_t {
  none,        ///< Not at all: what is timed is a call.
  batch,       ///< Its operator's batching rule, over `factor` members that are equal.
  dimensions,  ///< Every dimension above 1 of its operands is `factor` times as large.
};

struct OpCase {
  const Op* op;
  AnySample sample;   ///< With operands as large as they are in the graph, but for batches.
  std::string dtype;  ///< Of the first operand, else of the first result.
  Graph graph;        ///< One input an operand.
  Growth growth = Growth::none;
  std::int64_t factor = 1;
  std::vector<int> axes{};        ///< Of a batch, one an operand: 0, or -1 where all members have the same.
  double bytes = 0;               ///< By the cost that the operator states, else what it holds.
  double held = 0;                ///< Bytes of operands and results; of a batch, of one member.
  std::optional<double> flops{};  ///< By that cost; absent where it follows from a decomposition.
  std::string text() const;       ///< "softmax f32[1024,1280]": the operator and its operands, the first three.
};

/// A case grows by twos as long as it moves and holds at most so many bytes and needs at most so many operations.
struct CaseSize {
  double bytes = 16 << 20, flops = 5e8;
};

/// One case a dtype of the first operand: of the samples that break no constraint, one whose dimensions grow before one
/// that grows as a batch, then the one of most operations and bytes. Empty where operands cannot be made: resources,
/// tokens.
std::vector<OpCase> cases_of(const Op& op, const Registry& registry, const CaseSize& size = {});

/// Operands of the case, the same in every run.
HostValues operands_of(const OpCase& c);

}  // namespace rlx::bench

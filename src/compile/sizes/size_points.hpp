// Sizes that no buffer can be bounded for: the graph is split where one is introduced. The head computes the count and
// whatever it takes to get there; the host reads it; the tail is compiled with a bound that follows from it, and is
// given what the head has computed and it needs.
#pragma once
#include <rlx/compile/compile.hpp>

#include <optional>
#include <string>
#include <vector>

namespace rlx::compile {

struct SizePoint {
  std::string symbol;
  /// Outputs: what the tail takes of it, then the count, i64[]. What has sizes of the head is taken in the buffers of
  /// their bounds (one_program with padded results).
  Graph head;
  /// Introduces `symbol`, and gives the outputs of the whole graph.
  Graph tail;
  /// Where inputs come from: an input of the whole graph, or (tail only) of the outputs of the head.
  struct Source {
    bool of_head = false;
    std::size_t index = 0;
  };
  std::vector<Source> head_inputs{}, tail_inputs{};
  /// Rows of the whole graph's report that the rows of the parts belong to, in order, and that of the size.
  std::vector<int> head_rows{}, tail_rows{};
  int row = -1;
};

/// Whether the host reads every size, and the tail is compiled for exactly that: if asked to, and where numbers are
/// checked, which padding would confuse.
inline bool reads_exactly(const CompileOptions& o) { return o.exact_sizes || o.check_numerics; }
/// Whether a node of the top region introduces a size that the host must read, on a target that takes size points.
bool has_size_point(const Graph& hir, const Target& target, const CompileOptions& options);
/// Splits at the first of them. `hir` has its rows: nodes know their origin.
SizePoint first_size_point(const Graph& hir, const Registry& registry, const CompileOptions& options);

/// The tail for sizes up to `capacity`.
Graph bounded_tail(const SizePoint& point, std::int64_t capacity);
/// A capacity for `count`: the next of eight an octave, so that few tails serve all counts and an eighth at most is
/// padding; what i32 counts is not rounded to what it does not.
std::int64_t rounded_capacity(std::int64_t count);

}  // namespace rlx::compile

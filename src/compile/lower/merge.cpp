#include "compile/lower/merge.hpp"

#include "compile/lower/placement.hpp"
#include "compile/lower/reduction.hpp"

#include <rlx/ir/op.hpp>

#include <algorithm>
#include <optional>

namespace rlx::compile {
namespace {

constexpr std::size_t window = 48;             // Kernels before one that are tried.
constexpr std::int64_t row_bytes = 256 << 10;  // Of a row that a later pass finds in the cache.

// Work of an element that segments do not slow down much by making it scalar.
constexpr int beside_segments = 32;

// How a loop takes part in a rows kernel.
enum class Role { space, kept };

class Merger {
 public:
  Merger(KernelSet& s, const FusionOptions& o)
      : s_(s), options_(o), before_(s.kernels.size(), std::vector<bool>(s.kernels.size(), false)) {}

  void run() {
    const std::size_t n = s_.kernels.size();
    for (std::size_t k = 0; k < n; ++k) {
      reads_.push_back(s_.reads(s_.kernels[k]));
      for (std::size_t d : s_.dependencies(s_.kernels[k])) {
        before_[k][d] = true;
        for (std::size_t j = 0; j < n; ++j)
          if (before_[d][j]) before_[k][j] = true;
      }
    }
    for (std::size_t k = 0; k < n; ++k) {
      if (!takes_part(k)) continue;
      for (std::size_t j = k; j-- > 0 && k - j < window;)
        if (takes_part(j) && may_meet(j, k) && fit(j, k)) absorb(k, j);
    }
    s_.compact();
  }

 private:
  const FusedKernel& kernel(std::size_t k) const { return s_.kernels[k]; }
  bool takes_part(std::size_t k) const {
    return !kernel(k).roots.empty() && (kernel(k).space >= 0 || s_.is_loop(kernel(k)));
  }
  const Shape& loop_shape(const FusedKernel& k) const {
    return s_.graph.tensor_type(s_.graph.node(k.roots[0]).results[0]).shape;
  }

  // Whether they can be one kernel as far as the order of kernels goes, and have something in common.
  bool may_meet(std::size_t j, std::size_t k) const {
    if (before_[j][k]) return false;  // It needs what k has absorbed, perhaps by way of others.
    for (std::size_t c = 0; c < before_.size(); ++c)
      if (c != j && c != k && !kernel(c).roots.empty() && before_[k][c] && before_[c][j]) return false;
    if (before_[k][j]) return true;
    return std::any_of(reads_[j].begin(), reads_[j].end(), [&](ValueId v) { return reads_[k].contains(v); });
  }

  // Work of an element but for segments, and whether there are any.
  std::pair<int, bool> weight(const FusedKernel& k) const {
    std::pair<int, bool> out{0, false};
    s_.walk(
        k, [](ValueId) {},
        [&](NodeId id) {
          const bool segmented = is_segmented(s_.graph.node(id));
          if (segmented) out.second = true;
          else out.first += own_weight(s_.graph.node(id));
        });
    return out;
  }

  // Whether one index space serves both, and k reads what j makes only where j has just made it.
  bool fit(std::size_t j, std::size_t k) const {
    const FusedKernel &a = kernel(j), &b = kernel(k);
    if (s_.size(a) + s_.size(b) > kernel_limit) return false;
    if ((weight(a).second || weight(b).second) && weight(a).first + weight(b).first > beside_segments) return false;
    if (a.space < 0 && b.space < 0) {
      if (!(loop_shape(a) == loop_shape(b))) return false;
      return !before_[k][j] || reads_in_place(a, b, space_of(loop_shape(a)), Role::space, false);
    }
    const Node& reduce = s_.graph.node(a.space >= 0 ? a.space : b.space);
    const ReductionSpace space = reduction_space(s_.graph, reduce);
    if (space.terms < 2) return false;
    const SpaceDimensions shared = space_of(s_.graph, reduce);
    if (a.space >= 0 && b.space >= 0) {
      const ReductionSpace other = reduction_space(s_.graph, s_.graph.node(b.space));
      if (other.shape != space.shape || other.reduced_axes != space.reduced_axes) return false;
      return !before_[k][j] || reads_in_place(a, b, shared, Role::space, later_passes(space, a, b));
    }
    const FusedKernel& loop = a.space < 0 ? a : b;
    const Shape dims = without_units(loop_shape(loop)), &whole = s_.graph.tensor_type(reduce.operands[0]).shape,
                rows = without_units(s_.graph.tensor_type(reduce.results[0]).shape);
    // A loop over the rows has nothing to gain but by what it hands over; a chunk has no rows.
    if (dims == rows && space.chunks == 1) return before_[k][j] && reads_in_place(a, b, shared, Role::kept, true);
    if (!(dims == without_units(whole)) || !space.contiguous) return false;
    if (options_.least_rows > 1 && (space.chunks > 1 || space.rows < options_.least_rows)) return false;
    return !before_[k][j] || reads_in_place(a, b, shared, Role::space, later_passes(space, a, b));
  }

  // Whether a pass may use what another has reduced: rows must be whole, and still in the cache.
  bool later_passes(const ReductionSpace& space, const FusedKernel& a, const FusedKernel& b) const {
    if (space.chunks > 1 || !space.contiguous || space.rows < options_.least_rows) return false;
    std::set<ValueId> streams = s_.reads(a);
    streams.merge(s_.reads(b));
    streams.merge(s_.results(a));
    streams.merge(s_.results(b));
    std::int64_t bytes = 0;
    for (ValueId v : streams) {
      const TensorType& t = s_.graph.tensor_type(v);
      if (element_count(constant_shape(t.shape)) >= space.rows * space.terms) bytes += byte_size(t.dtype, space.terms);
    }
    return bytes <= row_bytes;
  }

  // Where a root makes its result.
  Placement made_at(const FusedKernel& k, NodeId root, const SpaceDimensions& s, Role role) const {
    const Node& n = s_.graph.node(root);
    const Shape& shape = s_.graph.tensor_type(n.results[0]).shape;
    if (!is_inlined_kind(n)) return placed_along(shape, s.kept);
    // A rows kernel holds loops of both kinds; one of loops alone has the role it is asked to play.
    const bool kept = k.space >= 0 ? without_units(shape).size() == s.kept.size() : role == Role::kept;
    return placed_along(shape, kept ? s.kept : s.all);
  }

  // Whether `to` reads what `from` makes at the placement where that is made, and without `registers` nothing that
  // `from` knows only at the end of a row.
  bool reads_in_place(const FusedKernel& from, const FusedKernel& to, const SpaceDimensions& s, Role role,
                      bool registers) const {
    std::map<ValueId, Placement> made;
    for (NodeId r : from.roots)
      for (ValueId v : s_.graph.node(r).results) made.emplace(v, made_at(from, r, s, role));
    const auto after_a_pass = [&](const Placement& p) {
      return from.space >= 0 &&
             p.size() - static_cast<std::size_t>(std::count(p.begin(), p.end(), fixed)) < s.all.size();
    };
    using At = std::optional<Placement>;
    std::set<std::pair<ValueId, At>> seen;
    std::vector<std::pair<ValueId, At>> stack;
    const auto operands = [&](const Node& n, const Placement& p) {
      for (std::size_t i = 0; i < n.operands.size(); ++i)
        stack.emplace_back(n.operands[i], operand_placement(s_.graph, n, i, p));
    };
    for (NodeId r : to.roots) {
      const Node& n = s_.graph.node(r);
      if (is_inlined_kind(n)) operands(n, made_at(to, r, s, role));
      else
        for (ValueId v : n.operands) stack.emplace_back(v, placed_along(s_.graph.tensor_type(v).shape, s.all));
    }
    const std::set<ValueId> own = s_.results(to);
    while (!stack.empty()) {
      const auto [v, p] = stack.back();
      stack.pop_back();
      if (own.contains(v) || !seen.insert({v, p}).second) continue;
      if (const auto it = made.find(v); it != made.end()) {
        if (p != it->second || (after_a_pass(it->second) && !registers)) return false;
        continue;
      }
      const NodeId d = s_.graph.value(v).node;
      if (d < 0 || s_.buffers.contains(v)) continue;
      const Node& n = s_.graph.node(d);
      if (p) operands(n, *p);
      else
        for (ValueId o : n.operands) stack.emplace_back(o, std::nullopt);
    }
    return true;
  }

  void absorb(std::size_t k, std::size_t j) {
    const std::size_t n = before_.size();
    FusedKernel &to = s_.kernels[k], &from = s_.kernels[j];
    to.roots.insert(to.roots.begin(), from.roots.begin(), from.roots.end());
    if (to.space < 0) to.space = from.space;
    from.roots.clear();
    for (std::size_t c = 0; c < n; ++c)
      if (before_[j][c]) before_[k][c] = true;
    before_[k][j] = before_[k][k] = false;
    for (std::size_t c = 0; c < n; ++c)
      if (c != k && (before_[c][j] || before_[c][k])) {
        before_[c][k] = true;
        for (std::size_t d = 0; d < n; ++d)
          if (before_[k][d]) before_[c][d] = true;
      }
    reads_[k].merge(reads_[j]);
  }

  KernelSet& s_;
  const FusionOptions& options_;
  std::vector<std::vector<bool>> before_;  // before_[k][j]: k needs j, directly or not.
  std::vector<std::set<ValueId>> reads_;
};

}  // namespace

void merge_kernels(KernelSet& s, const FusionOptions& options) { Merger(s, options).run(); }

}  // namespace rlx::compile

#include "knn.hpp"

#include <rlx/splat/attributes.hpp>

#include "blocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace rlx::splat::cpu {
namespace {

/// A point and where it stands among the operand's.
template <class T>
struct Place {
  T at[3];
  std::int32_t index;
};

// A balanced tree without nodes (J. Bentley, CACM 18 (1975)): of the points [begin, end), the one in the middle halves
// the others along axis[middle]. Short ranges are searched whole.
template <class T>
class Tree {
 public:
  Tree(Place<T>* points, std::uint8_t* axis, std::int64_t n) : points_(points), axis_(axis) { split(0, n); }

  /// The mean of the squared distances from point `self` to its k nearest others; `nearest` has room for k.
  T mean(std::int64_t n, std::int64_t self, T* nearest, std::int64_t k) const {
    std::fill(nearest, nearest + k, std::numeric_limits<T>::infinity());
    search(0, n, self, nearest, k);
    T sum = 0;
    for (std::int64_t i = 0; i < k; ++i) sum += nearest[i];
    return sum / static_cast<T>(k);
  }

 private:
  static constexpr std::int64_t leaf = 12;

  void split(std::int64_t begin, std::int64_t end) {
    while (end - begin > leaf) {
      T low[3], high[3];
      for (int d = 0; d < 3; ++d) low[d] = high[d] = points_[begin].at[d];
      for (std::int64_t i = begin; i < end; ++i)
        for (int d = 0; d < 3; ++d)
          low[d] = std::min(low[d], points_[i].at[d]), high[d] = std::max(high[d], points_[i].at[d]);
      int widest = 0;
      for (int d = 1; d < 3; ++d)
        if (high[d] - low[d] > high[widest] - low[widest]) widest = d;
      const std::int64_t middle = begin + (end - begin) / 2;
      std::nth_element(points_ + begin, points_ + middle, points_ + end,
                       [widest](const Place<T>& a, const Place<T>& b) { return a.at[widest] < b.at[widest]; });
      axis_[middle] = static_cast<std::uint8_t>(widest);
      split(begin, middle);
      begin = middle + 1;
    }
  }

  void meet(std::int64_t i, std::int64_t self, T* nearest, std::int64_t k) const {
    const T *p = points_[self].at, *q = points_[i].at;
    const T x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2];
    const T square = x * x + y * y + z * z;
    if (i == self || !(square < nearest[k - 1])) return;
    std::int64_t to = k - 1;
    for (; to > 0 && nearest[to - 1] > square; --to) nearest[to] = nearest[to - 1];
    nearest[to] = square;
  }

  // Rounding keeps order: what lies beyond a plane is no nearer than the plane, in the same arithmetic.
  void search(std::int64_t begin, std::int64_t end, std::int64_t self, T* nearest, std::int64_t k) const {
    if (end - begin <= leaf) {
      for (std::int64_t i = begin; i < end; ++i) meet(i, self, nearest, k);
      return;
    }
    const std::int64_t middle = begin + (end - begin) / 2;
    const T gap = points_[self].at[axis_[middle]] - points_[middle].at[axis_[middle]];
    const bool before = gap < 0;
    search(before ? begin : middle + 1, before ? middle : end, self, nearest, k);
    if (!(gap * gap < nearest[k - 1])) return;
    meet(middle, self, nearest, k);
    search(before ? middle + 1 : begin, before ? end : middle, self, nearest, k);
  }

  Place<T>* points_;
  std::uint8_t* axis_;
};

/// Points of a team, which has room for the neighbours of one.
constexpr std::int64_t grain = 512;

/// Where the axes lie in the workspace, behind the points, and the memory of the teams behind them.
template <class T>
std::int64_t points_bytes(std::int64_t n) {
  return aligned(n * static_cast<std::int64_t>(sizeof(Place<T>)));
}
template <class T>
std::int64_t nearest_bytes(std::int64_t k) {
  return k * static_cast<std::int64_t>(sizeof(T));
}
template <class T>
std::int64_t workspace_bytes(std::int64_t n, std::int64_t k) {
  return points_bytes<T>(n) + aligned(n) + HostPool::planned_scratch(nearest_bytes<T>(k));
}

template <class T>
void run(const LaunchCall& c) {
  const std::int64_t n = c.in[0].type.dim(0).constant(), k = c.instance.attrs->as<KnnAttrs>().k;
  const auto* in = static_cast<const T*>(c.in[0].data);
  auto* out = static_cast<T*>(c.out[0].data);
  auto* memory = static_cast<std::byte*>(c.workspace.data);
  const HostView<Place<T>*> points(reinterpret_cast<Place<T>*>(memory), n);
  auto* axis = reinterpret_cast<std::uint8_t*>(memory + points_bytes<T>(n));
  const std::int64_t used = points_bytes<T>(n) + aligned(n);
  // What is not finite is infinitely far from all.
  std::int64_t count = 0;
  Kokkos::parallel_scan(
      "splat.knn.finite", Range(0, n, Kokkos::ChunkSize(1 << 13)),
      [=](std::int64_t i, std::int64_t& at, bool last) {
        const T* p = in + 3 * i;
        const bool finite = std::isfinite(p[0]) && std::isfinite(p[1]) && std::isfinite(p[2]);
        if (last) {
          out[i] = std::numeric_limits<T>::infinity();
          if (finite) points(at) = {{p[0], p[1], p[2]}, static_cast<std::int32_t>(i)};
        }
        at += finite;
      },
      count);
  const Tree<T> tree(points.data(), axis, count);
  const HostPool pool(memory + used, c.workspace.type.numel().constant() - used);
  Kokkos::parallel_for("splat.knn", team_policy(pool, (count + grain - 1) / grain, nearest_bytes<T>(k)),
                       [&](const HostTeam& team) {
                         auto* const nearest = static_cast<T*>(team.team_scratch(0).get_shmem(nearest_bytes<T>(k)));
                         const std::int64_t begin = team.league_rank() * grain;
                         for (std::int64_t i = begin; i < std::min(count, begin + grain); ++i)
                           out[points(i).index] = tree.mean(count, i, nearest, k);
                       });
}

}  // namespace

std::int64_t knn_workspace(const Instance& i) {
  const TensorType& t = i.signature.tensor(0);
  const std::int64_t n = t.dim(0).constant(), k = i.attrs->as<KnnAttrs>().k;
  return t.dtype == DType::f64 ? workspace_bytes<double>(n, k) : workspace_bytes<float>(n, k);
}

void launch_knn(const LaunchCall& c) {
  if (c.in[0].type.dtype == DType::f64) return run<double>(c);
  return run<float>(c);
}

}  // namespace rlx::splat::cpu

#include "knn.hpp"

#include <rlx/splat/attributes.hpp>

#include "backends/cpu/thread_pool.hpp"

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

/// Points a chunk of the pool, and what each needs for its neighbours.
constexpr std::int64_t grain = 512;
std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }
std::int64_t chunks_of(std::int64_t n) { return (n + grain - 1) / grain; }

template <class T>
void run(const LaunchCall& c) {
  const std::int64_t n = c.in[0].type.dim(0).constant(), k = c.instance.attrs->as<KnnAttrs>().k;
  const auto* in = static_cast<const T*>(c.in[0].data);
  auto* out = static_cast<T*>(c.out[0].data);
  auto* memory = static_cast<std::byte*>(c.workspace.data);
  auto* points = reinterpret_cast<Place<T>*>(memory);
  auto* nearest = reinterpret_cast<T*>(memory + aligned(n * static_cast<std::int64_t>(sizeof(Place<T>))));
  auto* axis = reinterpret_cast<std::uint8_t*>(nearest + chunks_of(n) * k);
  // What is not finite is infinitely far from all.
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const T* p = in + 3 * i;
    out[i] = std::numeric_limits<T>::infinity();
    if (std::isfinite(p[0]) && std::isfinite(p[1]) && std::isfinite(p[2]))
      points[count++] = {{p[0], p[1], p[2]}, static_cast<std::int32_t>(i)};
  }
  struct Work {
    Tree<T> tree;
    const Place<T>* points;
    T *nearest, *out;
    std::int64_t count, k;
  } work{Tree<T>(points, axis, count), points, nearest, out, count, k};
  rlx::cpu::parallel_for(
      count, grain, 0,
      [](void* context, std::int64_t begin, std::int64_t end) {
        const auto& w = *static_cast<const Work*>(context);
        for (std::int64_t i = begin; i < end; ++i)
          w.out[w.points[i].index] = w.tree.mean(w.count, i, w.nearest + begin / grain * w.k, w.k);
      },
      &work);
}

}  // namespace

std::int64_t knn_workspace(const Instance& i) {
  const TensorType& t = i.signature.tensor(0);
  const std::int64_t n = t.dim(0).constant(), wide = t.dtype == DType::f64;
  return aligned(n * static_cast<std::int64_t>(wide ? sizeof(Place<double>) : sizeof(Place<float>))) +
         chunks_of(n) * i.attrs->as<KnnAttrs>().k * (wide ? 8 : 4) + n;
}

void launch_knn(const LaunchCall& c) {
  if (c.in[0].type.dtype == DType::f64) return run<double>(c);
  return run<float>(c);
}

}  // namespace rlx::splat::cpu

// Kernels that memory bounds: a chain of ten f32 elementwise operators with one transcendental on 64 MiB, softmax and
// layer norm on rows of 1024, and softmax down columns of 1024, against the triad of the same run. Bytes: one read and
// one write of the tensor. The chain and layer norm written by hand (plain, asking for memory ahead of time, with
// streaming stores) show what the machine gives to such loops; so does softmax down columns in three sweeps over the
// rows, which columns so long need, since what one sweep leaves in the caches is little. The same rows again and again,
// so few that they stay in the second cache, show what their arithmetic takes without memory. A step of an optimiser
// over its donated state, against the same with fresh results.
#include "benchmarks/bench.hpp"

#include <rlx/catalog.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace rlx;

namespace {

/// `call` moves so many bytes; in turn with the triad.
void beside_the_triad(const std::string& name, double bytes, double goal, const std::function<void()>& call) {
  bench::Triad triad(bench::threads());
  const bench::Pair t = bench::alternating_seconds(15, call, [&] { triad(); });
  const double ours = bytes / t.first, most = triad.bytes() / t.second;
  bench::row(name, ours * 1e-9, most * 1e-9, "GB/s", ours / most, goal);
}

void measure(const runtime::Catalog& catalog, const std::string& name, Shape shape, double goal,
             const std::function<Value(Value)>& f) {
  Graph g(name);
  Builder b(g, catalog.operators);
  b.output(f(b.input(f32(shape), "x")), "y");
  const runtime::Executable e(runtime::open_device("cpu"), g, catalog);
  HostTensor x(DType::f32, constant_shape(shape));
  const auto data = x.as_mutable<float>();
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i % 1000) * 1e-3f - 0.5f;
  const HostValues in{x};
  HostValues out;
  constexpr std::int64_t moved = 64 << 20;  // by a timed call, of which the triad before it may have emptied the cache
  const std::int64_t times = std::max<std::int64_t>(1, moved / x.bytes());
  beside_the_triad(name, 2.0 * static_cast<double>(times * x.bytes()), goal, [&] {
    for (std::int64_t i = 0; i < times; ++i) out = e.run(in, std::move(out));
  });
}

// A step of Adam on 16 MiB each of weights, two moments and gradients: over its donated state, and beside it with
// memory of its own for the results of every step.
void measure_adam(const runtime::Catalog& catalog) {
  constexpr std::int64_t n = 4 << 20;
  Graph g("adam");
  Builder b(g, catalog.operators);
  const Value w = b.input(f32({n}), "w"), m = b.input(f32({n}), "m"), v = b.input(f32({n}), "v"),
              gradient = b.input(f32({n}), "g");
  const Value first = m * 0.9 + gradient * 0.1, second = v * 0.999 + gradient * gradient * 0.001;
  b.output(w - first * 0.01 / (ops::sqrt(second) + 1e-8), "w_next");
  b.output(first, "m_next");
  b.output(second, "v_next");
  CompileOptions donated;
  donated.donated = {0, 1, 2};
  const runtime::Executable in_place(runtime::open_device("cpu"), g, catalog, donated),
      fresh(runtime::open_device("cpu"), g, catalog);
  const auto start = [] {
    HostValues state;
    for (int i = 0; i < 4; ++i) {
      HostTensor x(DType::f32, {n});
      for (float& e : x.as_mutable<float>()) e = 1;
      state.emplace_back(std::move(x));
    }
    return state;
  };
  HostValues a = start(), c = start();
  const auto step = [](HostValues& state, HostValues next) {
    for (std::size_t i = 0; i < next.size(); ++i) state[i] = std::move(next[i]);
  };
  const bench::Pair t =
      bench::alternating_seconds(11, [&] { step(a, in_place.run_donating(a)); }, [&] { step(c, fresh.run(c)); });
  bench::row("Adam on 64 MiB, its state donated", t.first * 1e3, t.second * 1e3, "ms", t.second / t.first, 0);
}

#if defined(__x86_64__)
// exp by 2^n e^r with |r| <= ln 2 / 2; the benchmark's arguments need no care for overflow.
#pragma GCC push_options
#pragma GCC target("avx2,fma,prfchw")
inline __m256 c(float v) { return _mm256_set1_ps(v); }
inline __m256 exp_of(__m256 x) {
  const __m256 n = _mm256_round_ps(_mm256_mul_ps(x, c(1.44269504f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m256 r = _mm256_fnmadd_ps(n, c(1.42860677e-6f), _mm256_fnmadd_ps(n, c(0.693145752f), x));
  __m256 p = c(1.0f / 720);
  for (float k : {1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f}) p = _mm256_fmadd_ps(p, r, c(k));
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23)));
}

enum class Access { plain, prefetch, stream };

template <Access access>
void chain_by_hand(const float* from, float* to, std::ptrdiff_t n) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  for (std::ptrdiff_t i = 0; i < n; i += 8) {
    if constexpr (access == Access::prefetch) {
      if (i % 16 == 0) __builtin_prefetch(from + i + 512), __builtin_prefetch(to + i + 512, 1);
    }
    const __m256 x = _mm256_loadu_ps(from + i);
    __m256 y = _mm256_fmadd_ps(x, x, x);
    y = _mm256_fmsub_ps(y, x, exp_of(x));
    y = _mm256_max_ps(_mm256_xor_ps(sign, y), x);
    y = _mm256_mul_ps(_mm256_add_ps(_mm256_andnot_ps(sign, y), x), y);
    if constexpr (access == Access::stream) _mm256_stream_ps(to + i, y);
    else _mm256_storeu_ps(to + i, y);
  }
}

constexpr std::ptrdiff_t row_length = 1024;

/// Rows of 1024: a pass for the sum, one for the sum of squares about the mean, one that writes.
template <Access access>
void layer_norm_by_hand(const float* x, float* y, std::ptrdiff_t n) {
  const auto total = [](const __m256(&s)[4]) {
    float lanes[8];
    _mm256_storeu_ps(lanes, _mm256_add_ps(_mm256_add_ps(s[0], s[1]), _mm256_add_ps(s[2], s[3])));
    float sum = 0;
    for (float v : lanes) sum += v;
    return sum / static_cast<float>(row_length);
  };
  for (const float* end = x + n; x < end; x += row_length, y += row_length) {
    __m256 sums[4] = {}, squares[4] = {};
    for (std::ptrdiff_t i = 0; i < row_length; i += 32) {
      if constexpr (access == Access::prefetch)
        for (std::ptrdiff_t k = i; k < i + 32; k += 16)
          __builtin_prefetch(x + row_length + k), __builtin_prefetch(y + row_length + k, 1);
      for (std::ptrdiff_t k = 0; k < 4; ++k) sums[k] = _mm256_add_ps(sums[k], _mm256_loadu_ps(x + i + 8 * k));
    }
    const __m256 mean = c(total(sums));
    for (std::ptrdiff_t i = 0; i < row_length; i += 32)
      for (std::ptrdiff_t k = 0; k < 4; ++k) {
        const __m256 d = _mm256_sub_ps(_mm256_loadu_ps(x + i + 8 * k), mean);
        squares[k] = _mm256_fmadd_ps(d, d, squares[k]);
      }
    const __m256 scale = c(1 / std::sqrt(total(squares) + 1e-5f));
    for (std::ptrdiff_t i = 0; i < row_length; i += 8) {
      const __m256 v = _mm256_mul_ps(_mm256_sub_ps(_mm256_loadu_ps(x + i), mean), scale);
      if constexpr (access == Access::stream) _mm256_stream_ps(y + i, v);
      else _mm256_storeu_ps(y + i, v);
    }
  }
}

/// Softmax down the columns [from, to) of rows x columns: a pass over the rows for the largest, one for exp and the
/// sums, one to divide.
void softmax_columns_by_hand(const float* x, float* y, std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t from,
                             std::ptrdiff_t to, float* largest, float* sums) {
  const auto sweep = [&](auto each) {
    for (std::ptrdiff_t i = 0; i < rows; ++i)
      for (std::ptrdiff_t j = from; j < to; j += 8) each(x + i * columns + j, y + i * columns + j, j - from);
  };
  std::fill(largest, largest + (to - from), -std::numeric_limits<float>::infinity());
  std::fill(sums, sums + (to - from), 0.0f);
  sweep([&](const float* a, float*, std::ptrdiff_t j) {
    _mm256_storeu_ps(largest + j, _mm256_max_ps(_mm256_loadu_ps(largest + j), _mm256_loadu_ps(a)));
  });
  sweep([&](const float* a, float* b, std::ptrdiff_t j) {
    const __m256 e = exp_of(_mm256_sub_ps(_mm256_loadu_ps(a), _mm256_loadu_ps(largest + j)));
    _mm256_storeu_ps(b, e);
    _mm256_storeu_ps(sums + j, _mm256_add_ps(_mm256_loadu_ps(sums + j), e));
  });
  sweep([&](const float*, float* b, std::ptrdiff_t j) {
    _mm256_storeu_ps(b, _mm256_div_ps(_mm256_loadu_ps(b), _mm256_loadu_ps(sums + j)));
  });
}

#pragma GCC pop_options

using Loop = void (*)(const float* from, float* to, std::ptrdiff_t n);

void measure_by_hand(const std::string& name, Loop loop) {
  constexpr std::ptrdiff_t n = 16 << 20;
  HostTensor from(DType::f32, {n}), to(DType::f32, {n});
  float *x = from.as_mutable<float>().data(), *y = to.as_mutable<float>().data();
  for (std::ptrdiff_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 1000) * 1e-3f - 0.5f;
  beside_the_triad(name, 2.0 * static_cast<double>(from.bytes()), 0, [&] {
    constexpr std::ptrdiff_t block = 1 << 14;
#pragma omp parallel for num_threads(bench::threads()) schedule(static)
    for (std::ptrdiff_t i = 0; i < n; i += block) loop(x + i, y + i, block);
  });
}

void measure_columns_by_hand(const std::string& name, std::ptrdiff_t rows, std::ptrdiff_t columns) {
  HostTensor from(DType::f32, {rows, columns}), to(DType::f32, {rows, columns});
  float *x = from.as_mutable<float>().data(), *y = to.as_mutable<float>().data();
  for (std::ptrdiff_t i = 0; i < from.numel(); ++i) x[i] = static_cast<float>(i % 1000) * 1e-3f - 0.5f;
  beside_the_triad(name, 2.0 * static_cast<double>(from.bytes()), 0, [&] {
    constexpr std::ptrdiff_t block = 512;
#pragma omp parallel for num_threads(bench::threads()) schedule(static)
    for (std::ptrdiff_t j = 0; j < columns; j += block) {
      float largest[block], sums[block];
      softmax_columns_by_hand(x, y, rows, columns, j, j + block, largest, sums);
    }
  });
}
#endif

}  // namespace

int main(int argc, char** argv) {
  const runtime::Catalog catalog = make_catalog();
  const auto add = [&](const std::string& name, Shape shape, double goal, std::function<Value(Value)> f) {
    bench::add(name, [=, &catalog] { measure(catalog, name, shape, goal, f); });
  };
  add("chain of 10, 64 MiB f32", {16 << 20}, 0.9, [](Value x) {
    Value y = ops::add(ops::mul(x, x), x);
    y = ops::sub(ops::mul(y, x), ops::exp(x));
    y = ops::max(ops::neg(y), x);
    return ops::mul(ops::add(ops::abs(y), x), y);
  });
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    bench::add("chain by hand", [] {
      measure_by_hand("the chain by hand, plain", chain_by_hand<Access::plain>);
      measure_by_hand("the chain by hand, prefetching", chain_by_hand<Access::prefetch>);
      measure_by_hand("the chain by hand, streaming stores", chain_by_hand<Access::stream>);
    });
  }
#endif
  bench::add("adam", [&] { measure_adam(catalog); });
  const auto softmax = [](int axis) {
    return [axis](Value x) { return x.builder->emit1("softmax", {x}, ops::AxisAttrs{axis}); };
  };
  const auto layer_norm = [](Value x) {
    const Value mean = ops::reduce_sum(x, {1}, true) / 1024.0;
    const Value centred = ops::sub(x, mean);
    const Value variance = ops::reduce_sum(ops::mul(centred, centred), {1}, true) / 1024.0;
    return ops::mul(centred, ops::rsqrt(variance + 1e-5));
  };
  add("softmax, rows of 1024", {16384, 1024}, 0.8, softmax(1));
  add("softmax, rows of 1024 in the second cache", {128, 1024}, 0, softmax(1));
  add("layer norm, rows of 1024", {16384, 1024}, 0.8, layer_norm);
  add("layer norm, rows of 1024 in the second cache", {128, 1024}, 0, layer_norm);
  add("softmax, columns of 1024", {1024, 16384}, 0, softmax(0));
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    bench::add("layer norm by hand", [] {
      measure_by_hand("layer norm by hand, plain", layer_norm_by_hand<Access::plain>);
      measure_by_hand("layer norm by hand, prefetching", layer_norm_by_hand<Access::prefetch>);
      measure_by_hand("layer norm by hand, streaming stores", layer_norm_by_hand<Access::stream>);
    });
    bench::add("softmax of columns by hand",
               [] { measure_columns_by_hand("softmax, columns of 1024, three sweeps by hand", 1024, 16384); });
  }
#endif
  return bench::run(argc, argv);
}

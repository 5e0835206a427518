#include "matmul.hpp"

#include "../thread_pool.hpp"
#include "matmul_pack.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/host_tensor.hpp>
#include <rlx/ops/attributes.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>

namespace rlx::cpu {
namespace {

using emit_llvm::Machine;
using ops::Algorithm;
using ops::DotGeneralAttrs;

std::int64_t divided(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// How one product is cut. A block of strips (a_block) stays in a core's L2 while panels pass; the strips of one turn
/// in L1.
struct Blocking {
  std::int64_t m = 0, n = 0, k = 0;  ///< Packed at a time: rows, columns, depth.
  bool sums = false;                 ///< C is narrower than the sums, which are kept apart.
  std::int64_t strips_bytes = 0, panels_bytes = 0, sums_bytes = 0;
  std::int64_t bytes() const { return strips_bytes + panels_bytes + sums_bytes; }
};
constexpr std::int64_t panel_in_l1 = 64 << 10, strips_in_l2 = 512 << 10, packed_rows_bytes = 8 << 20,
                       columns_at_a_time = 4096;

Blocking blocking(const Microkernel& kernel, DType in, DType out, std::int64_t m, std::int64_t n, std::int64_t k) {
  Blocking b;
  b.sums = out == in && bit_width(in) < 32;
  // Depth: as many units as keep a panel in L1, split evenly.
  const std::int64_t group = kernel.step * unit_group, groups = divided(std::max<std::int64_t>(k, 1), group);
  b.k = divided(groups, divided(groups, panel_in_l1 / (kernel.nr * kernel.unit_bytes * unit_group))) * group;
  const std::int64_t row_limit = b.sums ? 1024 : packed_rows_bytes / (b.k / kernel.step * kernel.unit_bytes);
  b.m = std::min(divided(m, kernel.mr), std::max<std::int64_t>(1, row_limit / kernel.mr)) * kernel.mr;
  b.n = std::min(divided(n, kernel.nr), std::max<std::int64_t>(1, (b.sums ? 1024 : columns_at_a_time) / kernel.nr)) *
        kernel.nr;
  b.strips_bytes = aligned(b.m / kernel.mr * strip_bytes(kernel, b.k));
  b.panels_bytes = aligned(b.n / kernel.nr * panel_bytes(kernel, b.k));
  if (b.sums) b.sums_bytes = aligned(b.m * b.n * 4);
  return b;
}

/// Products of a batch that are too small to share among threads go to threads whole, in at most this many chunks.
constexpr std::int64_t batch_chunks = 32;
constexpr double small_product = 64.0 * 64 * 64;
bool whole_products(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  return batch > 1 && static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) < 16 * small_product;
}

bool adjacent(const std::int64_t* offsets, std::int64_t count) {
  for (std::int64_t i = 1; i < count; ++i)
    if (offsets[i] != offsets[0] + i) return false;
  return true;
}

std::uint16_t rounded_bf16(float v) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  if (v != v) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/// One product of a batch.
class Product {
 public:
  Product(const Microkernel& kernel, const MatmulProblem& p, void* workspace, int threads)
      : kernel_(kernel),
        p_(p),
        blocking_(blocking(kernel, p.in, p.out, p.m(), p.n(), p.k())),
        threads_(threads),
        rows_adjacent_(adjacent(p.a_depth.data(), p.k())),
        columns_adjacent_(adjacent(p.b_depth.data(), p.k())) {
    strips_ = static_cast<std::byte*>(workspace);
    panels_ = strips_ + blocking_.strips_bytes;
    sums_ = panels_ + blocking_.panels_bytes;
    if (static_cast<double>(p.m()) * static_cast<double>(p.n()) * static_cast<double>(p.k()) < small_product)
      threads_ = 1;
  }

  void run(const void* a, const void* b, void* c) {
    a_ = a, b_ = b, c_ = static_cast<std::byte*>(c);
    for (n0_ = 0; n0_ < p_.n(); n0_ += blocking_.n)
      for (m0_ = 0; m0_ < p_.m(); m0_ += blocking_.m) {
        block_m_ = std::min(blocking_.m, p_.m() - m0_);
        block_n_ = std::min(blocking_.n, p_.n() - n0_);
        for (k0_ = 0; k0_ < p_.k(); k0_ += blocking_.k) {
          block_k_ = std::min(blocking_.k, p_.k() - k0_);
          pack();
          multiply();
        }
        if (blocking_.sums) round();
      }
  }

 private:
  std::int64_t strips() const { return divided(block_m_, kernel_.mr); }
  std::int64_t panels() const { return divided(block_n_, kernel_.nr); }

  template <class F>
  void each(std::int64_t extent, std::int64_t grain, F f) {
    parallel_for(
        extent, grain, threads_,
        [](void* context, std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) (*static_cast<F*>(context))(i);
        },
        &f);
  }

  void pack() {
    constexpr std::int64_t strips_each = 4, panels_each = 8;
    const std::int64_t left_tasks = divided(strips(), strips_each);
    each(left_tasks + divided(panels(), panels_each), 1, [&](std::int64_t task) {
      if (task < left_tasks) {
        for (std::int64_t i = task * strips_each; i < std::min(strips(), (task + 1) * strips_each); ++i)
          pack_strip(kernel_,
                     source(a_, p_.a_rows, m0_ + i * kernel_.mr,
                            std::min<std::int64_t>(kernel_.mr, block_m_ - i * kernel_.mr), p_.a_depth, rows_adjacent_),
                     strips_ + i * strip_bytes(kernel_, block_k_));
        return;
      }
      const std::int64_t j = (task - left_tasks) * panels_each;
      pack_panels(kernel_,
                  source(b_, p_.b_columns, n0_ + j * kernel_.nr,
                         std::min<std::int64_t>(panels_each * kernel_.nr, block_n_ - j * kernel_.nr), p_.b_depth,
                         columns_adjacent_),
                  panels_ + j * panel_bytes(kernel_, block_k_));
    });
  }
  PackSource source(const void* base, const std::vector<std::int64_t>& lanes, std::int64_t first, std::int64_t count,
                    const std::vector<std::int64_t>& depth, bool depth_adjacent) const {
    const std::int64_t* at = lanes.data() + first;
    return {base,          p_.in, at, static_cast<int>(count), depth.data() + k0_, block_k_, adjacent(at, count),
            depth_adjacent};
  }

  void multiply() {
    // Tasks of about equal size: rows whose strips stay in L2 together, 8 panels.
    const std::int64_t strip = strip_bytes(kernel_, block_k_), panel = panel_bytes(kernel_, block_k_);
    const std::int64_t rows = divided(strips(), std::max<std::int64_t>(1, strips_in_l2 / strip)),
                       columns = divided(panels(), 8);
    const std::int64_t line_bytes = packed_units(kernel_, block_k_) / unit_group * 64, last = panels() * panel;
    each(rows * columns, 1, [&](std::int64_t task) {
      const std::int64_t r = task / columns, q = task % columns;
      const std::int64_t i0 = strips() * r / rows, i1 = strips() * (r + 1) / rows, j0 = panels() * q / columns,
                         j1 = panels() * (q + 1) / columns;
      for (std::int64_t j = j0; j < j1; ++j)
        for (std::int64_t i = i0; i < i1; ++i)
          // The first strips of a panel bring the next one.
          tile(strips_ + i * strip, panels_ + j * panel, i * kernel_.mr, j * kernel_.nr,
               panels_ + std::min((j + 1) * panel + (i - i0) * line_bytes, last));
    });
  }

  void tile(const void* a, const void* b, std::int64_t i, std::int64_t j, const void* ahead) {
    const std::int64_t units = packed_units(kernel_, block_k_), unit = kernel_.unit_bytes,
                       ldc = blocking_.sums ? blocking_.n : p_.n();
    std::byte* to = blocking_.sums ? sums_ + (i * ldc + j) * unit : c_ + ((m0_ + i) * ldc + n0_ + j) * unit;
    const std::int64_t m = std::min<std::int64_t>(kernel_.mr, block_m_ - i),
                       n = std::min<std::int64_t>(kernel_.nr, block_n_ - j);
    if (m == kernel_.mr && n == kernel_.nr) return kernel_.run(units, a, b, to, ldc, k0_ != 0, ahead);
    alignas(64) std::byte edge[16 * 32 * 4];
    kernel_.run(units, a, b, edge, kernel_.nr, 0, ahead);
    for (std::int64_t r = 0; r < m; ++r, to += ldc * unit) {
      const std::byte* from = edge + r * kernel_.nr * unit;
      if (k0_ == 0) std::memcpy(to, from, static_cast<std::size_t>(n * unit));
      else if (kernel_.kind == PackedKind::f64) add<double>(to, from, n);
      else if (p_.in == DType::i8) add<std::uint32_t>(to, from, n);
      else add<float>(to, from, n);
    }
  }
  template <class T>
  static void add(std::byte* to, const std::byte* from, std::int64_t n) {
    auto* x = reinterpret_cast<T*>(to);
    const auto* y = reinterpret_cast<const T*>(from);
    for (std::int64_t i = 0; i < n; ++i) x[i] += y[i];
  }

  void round() {
    each(block_m_, 16, [this](std::int64_t i) {
      const std::byte* from = sums_ + i * blocking_.n * 4;
      const std::int64_t at = (m0_ + i) * p_.n() + n0_;
      const auto* f = reinterpret_cast<const float*>(from);
      auto* half = reinterpret_cast<std::uint16_t*>(c_) + at;
      if (p_.in == DType::i8)
        for (std::int64_t j = 0; j < block_n_; ++j)
          reinterpret_cast<std::uint8_t*>(c_)[at + j] =
              static_cast<std::uint8_t>(reinterpret_cast<const std::uint32_t*>(from)[j]);
      else if (p_.in == DType::bf16)
        for (std::int64_t j = 0; j < block_n_; ++j) half[j] = rounded_bf16(f[j]);
      else
        for (std::int64_t j = 0; j < block_n_; ++j) half[j] = f16_bits(static_cast<double>(f[j]));
    });
  }

  const Microkernel& kernel_;
  const MatmulProblem& p_;
  Blocking blocking_;
  int threads_;
  bool rows_adjacent_, columns_adjacent_;
  std::byte *strips_, *panels_, *sums_, *c_ = nullptr;
  const void *a_ = nullptr, *b_ = nullptr;
  std::int64_t m0_ = 0, n0_ = 0, k0_ = 0, block_m_ = 0, block_n_ = 0, block_k_ = 0;
};

}  // namespace

std::int64_t matmul_workspace(const Machine& machine, DType in, DType out, std::int64_t batch, std::int64_t m,
                              std::int64_t n, std::int64_t k) {
  const std::int64_t one = blocking(microkernel_shape(packed_kind(in, machine), machine), in, out, m, n, k).bytes();
  return 64 + one * (whole_products(batch, m, n, k) ? std::min(batch, batch_chunks) : 1);
}

void matmul(const Machine& machine, const MatmulProblem& p, const void* a, const void* b, void* c, void* workspace,
            int threads) {
  const std::int64_t size = p.m() * p.n(), c_bytes = size * bit_width(p.out) / 8;
  if (p.batch() == 0 || size == 0) return;
  if (p.k() == 0) {
    std::memset(c, 0, static_cast<std::size_t>(p.batch() * c_bytes));
    return;
  }
  const Microkernel& kernel = microkernel(packed_kind(p.in, machine), machine);
  auto* work =
      reinterpret_cast<std::byte*>(aligned(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(workspace))));
  const auto run = [&](std::int64_t i, std::byte* memory, int on) {
    const auto at = [&](const void* x, std::int64_t offset) {
      return static_cast<const std::byte*>(x) + offset * bit_width(p.in) / 8;
    };
    Product(kernel, p, memory, on)
        .run(at(a, p.a_batch[static_cast<std::size_t>(i)]), at(b, p.b_batch[static_cast<std::size_t>(i)]),
             static_cast<std::byte*>(c) + i * c_bytes);
  };
  if (!whole_products(p.batch(), p.m(), p.n(), p.k())) {
    for (std::int64_t i = 0; i < p.batch(); ++i) run(i, work, threads);
    return;
  }
  struct Context {
    decltype(run)& one;
    std::byte* work;
    std::int64_t bytes, grain;
  };
  Context context{run, work, blocking(kernel, p.in, p.out, p.m(), p.n(), p.k()).bytes(),
                  divided(p.batch(), batch_chunks)};
  parallel_for(
      p.batch(), context.grain, threads,
      [](void* x, std::int64_t begin, std::int64_t end) {
        const auto& t = *static_cast<const Context*>(x);
        for (std::int64_t i = begin; i < end; ++i) t.one(i, t.work + begin / t.grain * t.bytes, 1);
      },
      &context);
}

namespace {

/// The last word of a target's description is the level; code is made for this processor at that level.
const Machine& machine_of(const Target& t) {
  static std::mutex mutex;
  static auto* const known = new std::map<emit_llvm::Isa, Machine>;
  const emit_llvm::Isa isa = emit_llvm::parse_isa(std::string_view(t.description).substr(t.description.rfind(' ') + 1));
  const std::lock_guard lock(mutex);
  const auto it = known->find(isa);
  return it != known->end() ? it->second : known->emplace(isa, emit_llvm::host_machine(isa)).first->second;
}

std::vector<int> free_dims(int rank, const std::vector<int>& batch, const std::vector<int>& contract) {
  std::vector<int> dims;
  for (int d = 0; d < rank; ++d)
    if (std::find(batch.begin(), batch.end(), d) == batch.end() &&
        std::find(contract.begin(), contract.end(), d) == contract.end())
      dims.push_back(d);
  return dims;
}

/// Offsets of all positions of some dimensions of a row-major tensor, the last one running fastest.
std::vector<std::int64_t> offsets(const Shape& shape, const std::vector<int>& dims) {
  std::vector<std::int64_t> strides(shape.size(), 1), all{0};
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d].constant();
  for (int d : dims) {
    const auto at = static_cast<std::size_t>(d);
    std::vector<std::int64_t> next;
    next.reserve(all.size() * static_cast<std::size_t>(shape[at].constant()));
    for (std::int64_t o : all)
      for (std::int64_t i = 0; i < shape[at].constant(); ++i) next.push_back(o + i * strides[at]);
    all = std::move(next);
  }
  return all;
}

Dim extent(const Shape& shape, const std::vector<int>& dims) {
  Dim n = 1;
  for (int d : dims) n = n * shape[static_cast<std::size_t>(d)];
  return n;
}

struct Extents {
  Dim batch, m, n, k;
};
Extents extents(const DotGeneralAttrs& a, const Shape& x, const Shape& y) {
  const int x_rank = static_cast<int>(x.size()), y_rank = static_cast<int>(y.size());
  return {extent(x, a.lhs_batch), extent(x, free_dims(x_rank, a.lhs_batch, a.lhs_contract)),
          extent(y, free_dims(y_rank, a.rhs_batch, a.rhs_contract)), extent(x, a.lhs_contract)};
}

DType result_type(const Instance& i) { return std::get<TensorType>(i.results[0]).dtype; }

}  // namespace

Answer accepts_dot_general(const Instance& i) {
  const auto& a = i.attrs->as<DotGeneralAttrs>();
  const DType in = i.signature.dtype(0), sums = default_accumulator(in), out = result_type(i);
  if (a.algorithm != Algorithm::exact) return Answer::no("algorithm is not exact");
  if (a.accumulate != DType::boolean && a.accumulate != sums)
    return Answer::no("accumulates in " + std::string(name(a.accumulate)) + ", here sums of " + std::string(name(in)) +
                      " are " + std::string(name(sums)));
  if (out != in && out != sums)
    return Answer::no("result " + std::string(name(out)) + " is neither the operands' type nor that of the sums");
  for (std::size_t o = 0; o < 2; ++o)
    if (i.signature.tensor(o).layout || i.signature.tensor(o).quantization)
      return Answer::no("operand is not row-major or is quantized");
  const Extents e = extents(a, i.signature.shape(0), i.signature.shape(1));
  constexpr std::int64_t least = 4096;
  const auto below = [](const Dim& d, std::int64_t limit) { return d.is_constant() && d.constant() < limit; };
  if (below(e.m, 4) || below(e.n, 4) || below(e.k, 4))
    return Answer::no("a dimension is below 4: packing costs more than the product");
  const Dim work = e.m * e.n * e.k;
  if (below(work, least))
    return Answer::no(work.to_string() + " multiplications a product are fewer than " + std::to_string(least));
  return true;
}

std::int64_t dot_general_workspace(const Instance& i) {
  const Extents e = extents(i.attrs->as<DotGeneralAttrs>(), i.signature.shape(0), i.signature.shape(1));
  return matmul_workspace(machine_of(*i.target), i.signature.dtype(0), result_type(i), e.batch.constant(),
                          e.m.constant(), e.n.constant(), e.k.constant());
}

void launch_dot_general(const LaunchCall& call) {
  const auto& a = call.instance.attrs->as<DotGeneralAttrs>();
  const Shape &x = call.in[0].type.shape, &y = call.in[1].type.shape;
  const int x_rank = static_cast<int>(x.size()), y_rank = static_cast<int>(y.size());
  const MatmulProblem p{.in = call.in[0].type.dtype,
                        .out = call.out[0].type.dtype,
                        .a_batch = offsets(x, a.lhs_batch),
                        .a_rows = offsets(x, free_dims(x_rank, a.lhs_batch, a.lhs_contract)),
                        .a_depth = offsets(x, a.lhs_contract),
                        .b_batch = offsets(y, a.rhs_batch),
                        .b_columns = offsets(y, free_dims(y_rank, a.rhs_batch, a.rhs_contract)),
                        .b_depth = offsets(y, a.rhs_contract)};
  matmul(machine_of(*call.instance.target), p, call.in[0].data, call.in[1].data, call.out[0].data, call.workspace.data);
}

}  // namespace rlx::cpu

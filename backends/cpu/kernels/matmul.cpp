#include "matmul.hpp"

#include "../kokkos/host_pool.hpp"
#include "half_rows.hpp"
#include "matmul_blocking.hpp"
#include "matmul_made.hpp"
#include "matmul_pack.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

namespace rlx::cpu {
namespace {

using emit_llvm::Machine;

/// Up to so many bytes of a row of C, packing A costs more than its scattered rows do: 3 % of an f32 product of side
/// 1024, a third of a convolution with 64 features.
constexpr std::int64_t in_place_bytes = 4096;

/// Products of a batch that are too small to share among threads go to threads whole, in at most this many chunks.
constexpr std::int64_t batch_chunks = 32;
constexpr double small_product = 64.0 * 64 * 64;
bool whole_products(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  return batch > 1 && static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) < 16 * small_product;
}

std::uint16_t rounded_bf16(float v) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  if (v != v) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/// One product of a batch.
class Product {
 public:
  Product(const Microkernel& kernel, const MatmulProblem& p, void* workspace, int workers, const MatmulKernels& kernels)
      : kernel_(kernel.for_columns(p.n())),
        p_(p),
        blocking_(blocking(kernel, p.in, p.out, p.m(), p.n(), p.k(), workers, kernels.makes())),
        threads_(workers),
        epilogue_(kernels.epilogue),
        made_a_(kernels.a, p.in, p.a_rows, p.a_depth, blocking_.k),
        made_b_(kernels.b, p.in, p.b_columns, p.b_depth, blocking_.k),
        narrow_(bit_width(p.out) < 32),
        a_runs_(runs(p.a_depth)),
        b_runs_(runs(p.b_depth)) {
    panels_ = static_cast<std::byte*>(workspace);
    blocks_ = panels_ + blocking_.panels_bytes;
    made_ = blocks_ + blocking_.block_bytes * workers;
    sums_ = made_ + blocking_.made_bytes * workers;
    if (static_cast<double>(p.m()) * static_cast<double>(p.n()) * static_cast<double>(p.k()) < small_product)
      threads_ = 1;
    in_place_ = reads_in_place();
  }

  /// Product `q` of the batch; the kernels' elements count from the first product's.
  void run(std::int64_t q, const void* a, const void* b, void* c) {
    const auto at = [&](const void* x, std::int64_t offset, std::int64_t bits) {
      return static_cast<const std::byte*>(x) + offset * bits / 8;
    };
    const std::int64_t a_start = p_.a_batch[static_cast<std::size_t>(q)],
                       b_start = p_.b_batch[static_cast<std::size_t>(q)];
    first_ = q * p_.m() * p_.n();
    a_ = at(a, made_a_.used() ? 0 : a_start, bit_width(p_.in));
    b_ = at(b, made_b_.used() ? 0 : b_start, bit_width(p_.in));
    c_ = static_cast<std::byte*>(c) + q * p_.batch_stride() * bit_width(p_.out) / 8;
    made_a_.start(a_start);
    made_b_.start(b_start);
    for (n0_ = 0; n0_ < p_.n(); n0_ += blocking_.n)
      for (m0_ = 0; m0_ < p_.m(); m0_ += blocking_.row_limit) {
        m_ = std::min(blocking_.row_limit, p_.m() - m0_);
        n_ = std::min(blocking_.n, p_.n() - n0_);
        for (k0_ = 0; k0_ < p_.k(); k0_ += blocking_.k) {
          k_ = std::min(blocking_.k, p_.k() - k0_);
          pack();
          multiply();
        }
      }
  }

 private:
  /// Whether A is multiplied from where it lies: packing it pays where many panels follow, and needs no less than that
  /// the depths of a group follow each other.
  bool reads_in_place() const {
    if (!kernel_.in_place[0] || made_a_.used() || bit_width(p_.in) != 8 * kernel_.unit_bytes) return false;
    if (p_.n() * kernel_.unit_bytes > in_place_bytes || p_.k() % kernel_.group != 0) return false;
    for (std::size_t k = 0; k < a_runs_.size(); k += static_cast<std::size_t>(kernel_.group))
      if (a_runs_[k] < kernel_.group) return false;
    return true;
  }
  Microkernel::Rows rows_of(std::int64_t strip) const {
    Microkernel::Rows r{};
    for (std::int64_t i = 0; i < kernel_.mr; ++i)
      r.row[i] =
          static_cast<const std::byte*>(a_) +
          p_.a_rows[static_cast<std::size_t>(m0_ + std::min(strip * kernel_.mr + i, m_ - 1))] * kernel_.unit_bytes;
    r.depth = p_.a_depth.data() + k0_;
    return r;
  }

  std::int64_t panels() const { return divided(n_, kernel_.nr); }

  /// work(worker) for as many workers as have a task.
  template <class F>
  void on_workers(const char* name, std::int64_t tasks, const F& work) const {
    Kokkos::parallel_for(name,
                         Kokkos::RangePolicy<HostPool>(HostPool(threads_), 0, std::min<std::int64_t>(threads_, tasks),
                                                       Kokkos::ChunkSize(1)),
                         [&work](std::int64_t worker) { work(worker); });
  }

  void pack() {
    const std::int64_t each = made_b_.used() ? made_columns / kernel_.nr : 8, tasks = divided(panels(), each);
    std::atomic<std::int64_t> next{0};
    const auto work = [&](std::int64_t worker) {
      for (std::int64_t t; (t = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) {
        const std::int64_t j = t * each, first = n0_ + j * kernel_.nr,
                           count = std::min(each * kernel_.nr, n_ - j * kernel_.nr);
        std::byte* const to = panels_ + j * panel_bytes(kernel_, k_, kernel_.nr);
        if (made_b_.used()) make_panels(first, count, made_ + worker * blocking_.made_bytes, to);
        else pack_panels(kernel_, source(b_, p_.b_columns, first, count, p_.b_depth, b_runs_), to);
      }
    };
    on_workers("cpu.matmul.pack", tasks, work);
  }
  void make_panels(std::int64_t first, std::int64_t count, std::byte* scratch, std::byte* to) const {
    if (!made_b_.along_depth()) {
      for (std::int64_t q = 0; q < k_; q += made_depths)
        pack_panels(kernel_, made_b_.make(first, count, k0_ + q, std::min(made_depths, k_ - q), scratch), to, q, k_);
      return;
    }
    for (std::int64_t j = 0; j < count; j += kernel_.nr, to += panel_bytes(kernel_, k_, kernel_.nr))
      pack_panels(kernel_, made_b_.make(first + j, std::min<std::int64_t>(kernel_.nr, count - j), k0_, k_, scratch),
                  to);
  }
  PackSource source(const void* base, const std::vector<std::int64_t>& lanes, std::int64_t first, std::int64_t count,
                    const std::vector<std::int64_t>& depth, const std::vector<std::int64_t>& runs) const {
    const std::int64_t* at = lanes.data() + first;
    return {base, p_.in, at, static_cast<int>(count), depth.data() + k0_, k_, adjacent(at, count), runs.data() + k0_};
  }

  /// Tasks are rows times columns, taken by threads as they become free; a thread has one block of A at a time.
  void multiply() {
    const std::int64_t strips = divided(m_, kernel_.mr), turns = threads_ > 1 ? 4 * threads_ : 1;
    std::int64_t rows = divided(strips, blocking_.rows / kernel_.mr);
    // More tasks than threads, as many for each: of no fewer than 4 strips, then of no fewer than 4 panels.
    if (rows < turns) rows = std::max(rows, std::min(turns, strips / 4));
    if (rows > threads_) rows = std::min(strips, divided(rows, threads_) * threads_);
    const std::int64_t columns =
        rows < turns ? std::max<std::int64_t>(1, std::min(divided(turns, rows), panels() / 4)) : 1;
    std::atomic<std::int64_t> next{0};
    const bool finishes = epilogue_ && k0_ + k_ == p_.k() && n0_ + n_ == p_.n();
    // Columns of a block of rows that are still to come.
    std::vector<std::atomic<std::int64_t>> left(finishes ? static_cast<std::size_t>(rows) : 0);
    for (auto& l : left) l = columns;
    const auto work = [&](std::int64_t worker) {
      for (std::int64_t t; (t = next.fetch_add(1, std::memory_order_relaxed)) < rows * columns;) {
        const std::int64_t r = t % rows, q = t / rows;
        block(worker, strips * r / rows, strips * (r + 1) / rows, panels() * q / columns, panels() * (q + 1) / columns);
        if (finishes && left[static_cast<std::size_t>(r)].fetch_sub(1, std::memory_order_acq_rel) == 1)
          (*epilogue_)(first_ + (m0_ + strips * r / rows * kernel_.mr) * p_.n(),
                       first_ + (m0_ + std::min(m_, strips * (r + 1) / rows * kernel_.mr)) * p_.n());
      }
    };
    on_workers("cpu.matmul", rows * columns, work);
  }

  /// Strips [i0, i1) times panels [j0, j1).
  void block(std::int64_t worker, std::int64_t i0, std::int64_t i1, std::int64_t j0, std::int64_t j1) {
    std::byte* const strips = blocks_ + worker * blocking_.block_bytes;
    const std::int64_t strip = strip_bytes(kernel_, k_), panel = panel_bytes(kernel_, k_, kernel_.nr),
                       line_bytes = packed_units(kernel_, k_) / kernel_.group * kernel_.ahead_bytes,
                       last = (panels() - 1) * panel +
                              panel_bytes(kernel_, k_, kernel_.width(n_ - (panels() - 1) * kernel_.nr));
    for (std::int64_t i = i0; i < i1 && !in_place_; ++i) {
      const std::int64_t first = m0_ + i * kernel_.mr, count = std::min<std::int64_t>(kernel_.mr, m_ - i * kernel_.mr);
      pack_strip(kernel_,
                 made_a_.used() ? made_a_.make(first, count, k0_, k_, made_ + worker * blocking_.made_bytes)
                                : source(a_, p_.a_rows, first, count, p_.a_depth, a_runs_),
                 strips + (i - i0) * strip);
    }
    for (std::int64_t j = j0; j < j1; ++j)
      for (std::int64_t i = i0; i < i1; ++i)
        // The first strips of a panel bring the next one.
        tile(strips + (i - i0) * strip, panels_ + j * panel, i * kernel_.mr, j * kernel_.nr,
             panels_ + std::min((j + 1) * panel + (i - i0) * line_bytes, last));
  }

  void tile(const void* a, const void* b, std::int64_t i, std::int64_t j, const void* ahead) {
    const std::int64_t units = packed_units(kernel_, k_), unit = kernel_.unit_bytes,
                       m = std::min<std::int64_t>(kernel_.mr, m_ - i), n = std::min<std::int64_t>(kernel_.nr, n_ - j),
                       width = kernel_.width(n);
    const int registers = width / kernel_.lanes - 1;
    const Microkernel::Run run = in_place_ ? kernel_.in_place[registers] : kernel_.runs[registers];
    Microkernel::Rows rows;
    if (in_place_) rows = rows_of(i / kernel_.mr), a = &rows;
    const bool wide = blocking_.sums || !narrow_;  // the tile's own place holds sums
    const std::int64_t ld = blocking_.sums ? blocking_.n : p_.row_stride();
    std::byte* to = blocking_.sums ? sums_ + (i * ld + j) * unit : c_ + ((m0_ + i) * ld + n0_ + j) * unit;
    alignas(64) std::byte edge[Microkernel::most_tile_bytes];
    if (wide && m == kernel_.mr && n == width) run(units, a, b, to, ld, k0_ != 0, ahead);
    else {
      run(units, a, b, edge, width, 0, ahead);
      if (!wide) return round(edge, width, m, n, i, j);
      for (std::int64_t r = 0; r < m; ++r) {
        const std::byte* from = edge + r * width * unit;
        std::byte* row = to + r * ld * unit;
        if (k0_ == 0) std::memcpy(row, from, static_cast<std::size_t>(n * unit));
        else if (kernel_.kind == PackedKind::f64) add<double>(row, from, n);
        else if (p_.in == DType::i8) add<std::uint32_t>(row, from, n);
        else add<float>(row, from, n);
      }
    }
    if (blocking_.sums && k0_ + k_ == p_.k()) round(to, ld, m, n, i, j);
  }
  template <class T>
  static void add(std::byte* to, const std::byte* from, std::int64_t n) {
    auto* x = reinterpret_cast<T*>(to);
    const auto* y = reinterpret_cast<const T*>(from);
    for (std::int64_t i = 0; i < n; ++i) x[i] += y[i];
  }

  /// Sums [m][n], rows `ld` apart, to their place in C.
  void round(const std::byte* sums, std::int64_t ld, std::int64_t m, std::int64_t n, std::int64_t i, std::int64_t j) {
    for (std::int64_t r = 0; r < m; ++r) {
      const std::byte* from = sums + r * ld * 4;
      const std::int64_t at = (m0_ + i + r) * p_.row_stride() + n0_ + j;
      const auto* f = reinterpret_cast<const float*>(from);
      auto* half = reinterpret_cast<std::uint16_t*>(c_) + at;
      if (p_.in == DType::i8)
        for (std::int64_t q = 0; q < n; ++q)
          reinterpret_cast<std::uint8_t*>(c_)[at + q] =
              static_cast<std::uint8_t>(reinterpret_cast<const std::uint32_t*>(from)[q]);
      else if (p_.in == DType::bf16)
        for (std::int64_t q = 0; q < n; ++q) half[q] = rounded_bf16(f[q]);
      else round_f16(f, half, n);
    }
  }

  const Microkernel kernel_;
  const MatmulProblem& p_;
  Blocking blocking_;
  int threads_;
  const Epilogue* epilogue_;
  MadeSource made_a_, made_b_;
  bool narrow_, in_place_ = false;
  std::vector<std::int64_t> a_runs_, b_runs_;
  std::byte *panels_, *blocks_, *made_, *sums_, *c_ = nullptr;
  const void *a_ = nullptr, *b_ = nullptr;
  std::int64_t first_ = 0;
  std::int64_t m0_ = 0, n0_ = 0, k0_ = 0, m_ = 0, n_ = 0, k_ = 0;  ///< What is packed: where it starts, its extents.
};

}  // namespace

std::int64_t matmul_workspace(const Machine& machine, DType in, DType out, std::int64_t batch, std::int64_t m,
                              std::int64_t n, std::int64_t k, int threads, bool makes) {
  const Microkernel shape = microkernel_shape(packed_kind(in, machine), machine);
  if (whole_products(batch, m, n, k))
    return 64 + blocking(shape, in, out, m, n, k, 1, makes).bytes() * std::min(batch, batch_chunks);
  return 64 + blocking(shape, in, out, m, n, k, threads ? threads : default_threads(), makes).bytes();
}

std::pair<std::int64_t, std::int64_t> matmul_passes(const Machine& machine, DType in, DType out, std::int64_t m,
                                                    std::int64_t n, std::int64_t k) {
  const Blocking b =
      blocking(microkernel_shape(packed_kind(in, machine), machine), in, out, m, n, k, default_threads(), false);
  return {divided(n, b.n), divided(m, b.row_limit)};
}

void matmul(const Machine& machine, const MatmulProblem& p, const void* a, const void* b, void* c, void* workspace,
            int threads, const MatmulKernels& kernels) {
  if (p.batch() == 0 || p.m() == 0 || p.n() == 0) return;
  if (!threads) threads = default_threads();
  if (p.k() == 0) {
    const std::int64_t bits = bit_width(p.out);
    for (std::int64_t q = 0; q < p.batch(); ++q)
      for (std::int64_t i = 0; i < p.m(); ++i)
        std::memset(static_cast<std::byte*>(c) + (q * p.batch_stride() + i * p.row_stride()) * bits / 8, 0,
                    static_cast<std::size_t>(p.n() * bits / 8));
    if (kernels.epilogue) (*kernels.epilogue)(0, p.batch() * p.m() * p.n());
    return;
  }
  const Microkernel& kernel = microkernel(packed_kind(p.in, machine), machine);
  auto* work =
      reinterpret_cast<std::byte*>(aligned(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(workspace))));
  if (!whole_products(p.batch(), p.m(), p.n(), p.k())) {
    Product product(kernel, p, work, threads, kernels);
    for (std::int64_t q = 0; q < p.batch(); ++q) product.run(q, a, b, c);
    return;
  }
  const std::int64_t bytes = blocking(kernel, p.in, p.out, p.m(), p.n(), p.k(), 1, kernels.makes()).bytes(),
                     grain = divided(p.batch(), batch_chunks);
  Kokkos::parallel_for(
      "cpu.matmul",
      Kokkos::RangePolicy<HostPool>(HostPool(threads), 0, divided(p.batch(), grain), Kokkos::ChunkSize(1)),
      [&](std::int64_t chunk) {
        Product product(kernel, p, work + chunk * bytes, 1, kernels);
        for (std::int64_t q = chunk * grain; q < std::min(p.batch(), (chunk + 1) * grain); ++q) product.run(q, a, b, c);
      });
}

}  // namespace rlx::cpu

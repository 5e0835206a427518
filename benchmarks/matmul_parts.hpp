// The parts of a matrix product, each measured alone: what the whole cannot be faster than.
#pragma once
#include "backends/cpu/kernels/cache_sizes.hpp"
#include "backends/cpu/kernels/matmul_blocking.hpp"
#include "backends/cpu/kernels/matmul_microkernel.hpp"
#include "backends/cpu/kernels/matmul_pack.hpp"
#include "backends/cpu/memory.hpp"
#include "backends/cpu/thread_pool.hpp"
#include "benchmarks/bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace rlx::bench {

struct Memory {
  explicit Memory(std::int64_t bytes) : at(cpu::allocate(bytes)) {}
  ~Memory() { cpu::release(at); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* at;
};

inline std::vector<std::int64_t> steps(std::int64_t n, std::int64_t stride) {
  std::vector<std::int64_t> o(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < o.size(); ++i) o[i] = static_cast<std::int64_t>(i) * stride;
  return o;
}

/// The microkernel alone, each thread on packed operands of its own that stay in a level of its cache.
class MicrokernelAlone {
 public:
  MicrokernelAlone(DType t, int level, const emit_llvm::Machine& machine, int threads)
      : kernel_(cpu::microkernel(cpu::packed_kind(t, machine), machine)),
        threads_(threads),
        units_(level == 1 ? 168 : 4096 / kernel_.unit_bytes),
        panels_(level),
        strips_(level == 1 ? 1 : std::max<std::int64_t>(1, cpu::l2_bytes() / 4 / strip())) {
    for (int i = 0; i < threads_; ++i) workers_.push_back(std::make_unique<Worker>(*this));
  }
  double rate(double flops) const {
    struct Call {
      const MicrokernelAlone& all;
      std::int64_t tiles;
    } call{*this, static_cast<std::int64_t>(std::ceil(flops / flops_of_tile()))};
    const double t = bench::seconds(threads_, [&] {
      cpu::parallel_for(
          threads_, 1, threads_,
          [](void* c, std::int64_t worker, std::int64_t) {
            const auto& [all, tiles] = *static_cast<const Call*>(c);
            all.workers_[static_cast<std::size_t>(worker)]->run(all, tiles);
          },
          &call);
    });
    return flops_of_tile() * static_cast<double>(call.tiles * threads_) / t * 1e-9;
  }
  std::string shape() const { return std::to_string(kernel_.mr) + "x" + std::to_string(kernel_.nr); }

 private:
  struct Worker {
    explicit Worker(const MicrokernelAlone& all)
        : a(all.strip() * all.strips_),
          b(all.panel() * all.panels_),
          c(static_cast<std::int64_t>(all.kernel_.mr) * all.kernel_.nr * all.kernel_.unit_bytes) {
      // Small numbers, in f32 and in f64.
      std::memset(a.at, 0x3c, static_cast<std::size_t>(all.strip() * all.strips_));
      std::memset(b.at, 0x3c, static_cast<std::size_t>(all.panel() * all.panels_));
    }
    void run(const MicrokernelAlone& all, std::int64_t tiles) {
      const cpu::Microkernel& k = all.kernel_;
      for (const std::int64_t end = tile + tiles; tile < end; ++tile)
        k.runs[k.nr / k.lanes - 1](all.units_, static_cast<std::byte*>(a.at) + tile % all.strips_ * all.strip(),
                                   static_cast<std::byte*>(b.at) + tile / all.strips_ % all.panels_ * all.panel(), c.at,
                                   k.nr, 0, b.at);
    }
    Memory a, b, c;
    std::int64_t tile = 0;  // goes on where it was
  };
  std::int64_t strip() const { return units_ * kernel_.mr * kernel_.unit_bytes; }
  std::int64_t panel() const { return units_ * kernel_.nr * kernel_.unit_bytes; }
  double flops_of_tile() const { return 2.0 * static_cast<double>(units_ * kernel_.mr * kernel_.nr); }

  const cpu::Microkernel& kernel_;
  int threads_;
  std::int64_t units_, panels_, strips_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

/// Both operands of a square product copied into the order of the microkernel, as often and in the pieces that the
/// product does, each thread an equal share of them.
class PackingAlone {
 public:
  PackingAlone(DType t, std::int64_t n, const emit_llvm::Machine& machine, int threads)
      : kernel_(cpu::microkernel(cpu::packed_kind(t, machine), machine)),
        blocking_(cpu::blocking(kernel_, t, t, n, n, n, threads, false)),
        type_(t),
        n_(n),
        threads_(threads),
        rows_(steps(n, n)),
        columns_(steps(n, 1)),
        row_runs_(cpu::runs(rows_)),
        column_runs_(cpu::runs(columns_)),
        a_(byte_size(t, n * n)),
        b_(byte_size(t, n * n)),
        panels_(blocking_.panels_bytes) {
    for (int i = 0; i < threads; ++i)
      blocks_.push_back(
          std::make_unique<Memory>(std::max(blocking_.block_bytes, cpu::strip_bytes(kernel_, blocking_.k))));
    std::memset(a_.at, 0x3c, static_cast<std::size_t>(byte_size(t, n * n)));
    std::memset(b_.at, 0x3c, static_cast<std::size_t>(byte_size(t, n * n)));
  }
  double seconds() const {
    return bench::seconds(threads_, [&] {
      cpu::parallel_for(
          threads_, 1, threads_,
          [](void* c, std::int64_t worker, std::int64_t) { static_cast<const PackingAlone*>(c)->pack(worker); },
          const_cast<PackingAlone*>(this));
    });
  }

 private:
  void pack(std::int64_t worker) const {
    const std::int64_t at_once = 8 * kernel_.nr;
    std::byte* const block = static_cast<std::byte*>(blocks_[static_cast<std::size_t>(worker)]->at);
    for (std::int64_t n0 = 0; n0 < n_; n0 += blocking_.n)
      for (std::int64_t k0 = 0; k0 < n_; k0 += blocking_.k) {
        const std::int64_t k = std::min(blocking_.k, n_ - k0), columns = std::min(blocking_.n, n_ - n0),
                           panel = cpu::panel_bytes(kernel_, k, kernel_.nr), strip = cpu::strip_bytes(kernel_, k),
                           strips = std::max<std::int64_t>(1, blocking_.rows / kernel_.mr);
        for (std::int64_t j = worker * at_once; j < columns; j += threads_ * at_once)
          cpu::pack_panels(kernel_,
                           source(b_, columns_, n0 + j, std::min(at_once, columns - j), rows_, row_runs_, k0, k),
                           static_cast<std::byte*>(panels_.at) + j / kernel_.nr * panel);
        for (std::int64_t i = worker * kernel_.mr; i < n_; i += threads_ * kernel_.mr)
          cpu::pack_strip(
              kernel_, source(a_, rows_, i, std::min<std::int64_t>(kernel_.mr, n_ - i), columns_, column_runs_, k0, k),
              block + i / kernel_.mr % strips * strip);
      }
  }
  cpu::PackSource source(const Memory& m, const std::vector<std::int64_t>& lanes, std::int64_t first,
                         std::int64_t count, const std::vector<std::int64_t>& depth,
                         const std::vector<std::int64_t>& runs, std::int64_t k0, std::int64_t k) const {
    const std::int64_t* at = lanes.data() + first;
    return {m.at, type_, at, static_cast<int>(count), depth.data() + k0, k, cpu::adjacent(at, count), runs.data() + k0};
  }

  const cpu::Microkernel& kernel_;
  cpu::Blocking blocking_;
  DType type_;
  std::int64_t n_;
  int threads_;
  std::vector<std::int64_t> rows_, columns_, row_runs_, column_runs_;
  Memory a_, b_, panels_;
  std::vector<std::unique_ptr<Memory>> blocks_;  ///< One a thread.
};

}  // namespace rlx::bench

// The kernels of one region while fusion works on them.
#pragma once
#include "compile/lower/fusion.hpp"

#include <functional>
#include <map>

namespace rlx::compile {

class KernelSet {
 public:
  explicit KernelSet(const Graph& g) : graph(g) {}

  const Graph& graph;
  std::set<ValueId> buffers;
  std::vector<FusedKernel> kernels;

  /// Calls reads(value) for each stored value that the kernel needs from elsewhere, inside(id) for each node that is
  /// computed in it, roots included, each once.
  void walk(const FusedKernel& k, const std::function<void(ValueId)>& reads,
            const std::function<void(NodeId)>& inside) const;
  std::set<ValueId> reads(const FusedKernel& k) const;
  int size(const FusedKernel& k) const;  ///< Of its code, in units of emitted_size.
  bool is_loop(const FusedKernel& k) const;
  std::set<ValueId> results(const FusedKernel& k) const;

  /// Kernels without roots go; producers are numbered anew.
  void compact();
  /// Kernels whose results this one reads.
  std::set<std::size_t> dependencies(const FusedKernel& k) const;
  /// Depth first over needs, in program order: stable, and every kernel comes after what it reads.
  void sort();

 private:
  std::map<ValueId, std::size_t> producer_;
};

}  // namespace rlx::compile

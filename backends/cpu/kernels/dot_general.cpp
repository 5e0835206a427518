// The record of dot_general: which products the packed kernel takes, and as what problem.
#include "../thread_pool.hpp"
#include "matmul.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ops/attributes.hpp>

#include <algorithm>
#include <map>
#include <mutex>

namespace rlx::cpu {
namespace {

using emit_llvm::Machine;
using ops::Algorithm;
using ops::DotGeneralAttrs;

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
  const Machine& machine = machine_of(*call.instance.target);
  // The number of threads may have grown since the workspace was planned.
  const std::int64_t bytes = call.workspace.type.shape.at(0).constant();
  int threads = default_threads();
  while (threads > 1 && matmul_workspace(machine, p.in, p.out, p.batch(), p.m(), p.n(), p.k(), threads) > bytes)
    --threads;
  matmul(machine, p, call.in[0].data, call.in[1].data, call.out[0].data, call.workspace.data, threads);
}

}  // namespace rlx::cpu

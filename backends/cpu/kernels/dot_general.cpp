// The record of dot_general: which products the packed kernel takes, and as what problem.
#include "../machine.hpp"
#include "matmul.hpp"

#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/ops/attributes/contraction.hpp>

#include <algorithm>

namespace rlx::cpu {
namespace {

using ops::DotGeneralAttrs;

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

MadeOperand made_operand(const LaunchCall& call, std::size_t o) {
  if (call.prologues.empty() || !call.prologues[o]) return {};
  return {&call.prologues[o], call.in[o].type.shape.back().constant()};
}

DType result_type(const Instance& i) { return std::get<TensorType>(i.results[0]).dtype; }

}  // namespace

Answer accepts_dot_general(const Instance& i) {
  const auto& a = i.attrs->as<DotGeneralAttrs>();
  const DType in = i.signature.dtype(0), sums = default_accumulator(in), out = result_type(i);
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
                          e.m.constant(), e.n.constant(), e.k.constant(), 0, i.prologues);
}

Answer makes_dot_general_operand(const Instance& i, std::size_t operand) {
  const auto& a = i.attrs->as<DotGeneralAttrs>();
  const Shape& shape = i.signature.shape(operand);
  const int rank = static_cast<int>(shape.size());
  const bool left = operand == 0;
  const std::vector<int>& contract = left ? a.lhs_contract : a.rhs_contract;
  const std::vector<int> lanes = free_dims(rank, left ? a.lhs_batch : a.rhs_batch, contract);
  const auto ends_row = [&](const std::vector<int>& dims) { return !dims.empty() && dims.back() == rank - 1; };
  if (constexpr std::int64_t least = 16; shape.back().constant() < least)
    return Answer::no("its rows have fewer than " + counted(least, "element"));
  // A strip of the first operand has few rows, so a piece along these would be made for several strips.
  if (!ends_row(contract) && (left || !ends_row(lanes)))
    return Answer::no("its last dimension is not the last of those that packing follows");
  const Extents e = extents(a, i.signature.shape(0), i.signature.shape(1));
  const auto passes = matmul_passes(machine_of(*i.target), i.signature.dtype(0), result_type(i), e.m.constant(),
                                    e.n.constant(), e.k.constant());
  if (const std::int64_t times = left ? passes.first : passes.second; times > 1)
    return Answer::no("it is packed " + counted(times, "time"));
  return true;
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
  matmul_in(call.workspace.data, call.workspace.type.shape.at(0).constant(), machine_of(*call.instance.target), p,
            call.in[0].data, call.in[1].data, call.out[0].data,
            {.epilogue = call.epilogue, .a = made_operand(call, 0), .b = made_operand(call, 1)});
}

}  // namespace rlx::cpu

// Passes over memory of one iteration of conjugate gradients: a vector is read once for all that uses it.
#include "linalg_catalog.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/linalg/build.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace rlx {
namespace {

constexpr std::int64_t rows = 40000;  // More than two chunks of a sum.

// 4 on the diagonal, -1 beside it: the eigenvalues lie between 2 and 6.
HostSparse tridiagonal() {
  const std::int64_t entries = 3 * rows - 2;
  HostSparse s{SparseType{SparseFormat::csr, DType::f64, DType::i32, {rows, rows}, entries},
               HostTensor(DType::i32, {rows + 1}), HostTensor(DType::i32, {entries}),
               HostTensor(DType::f64, {entries})};
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = std::max<std::int64_t>(i - 1, 0); j <= std::min(i + 1, rows - 1); ++j) {
      s.indices.set_i64(at, j);
      s.values.set_f64(at++, i == j ? 4 : -1);
    }
    s.offsets.set_i64(i + 1, at);
  }
  return s;
}

TEST(CgFusion, AnIterationHasThreePassesAndCopiesNoVector) {
  const HostSparse a = tridiagonal();
  Graph g;
  Builder b(g, linalg_catalog().operators);
  const Value m = b.input(a.type, "a"), right = b.input(f64({rows}), "b"), start = b.input(f64({rows}), "x0");
  const linalg::Cg r = linalg::cg(m, right, start, {.tolerance = 1e-12, .max_iterations = 100});
  b.output(r.x, "x");
  const runtime::Executable e(runtime::open_device("cpu"), g, linalg_catalog());
  int passes = 0, copies = 0;
  const std::function<void(RegionId, bool)> visit = [&](RegionId region, bool inside) {
    for (NodeId id : e.lir().region(region).nodes) {
      const Node& n = e.lir().node(id);
      if (n.op->name() == "lir.while") visit(n.regions[1], true);
      if (!inside) continue;
      for (ValueId v : n.operands)
        if (e.lir().tensor_type(v).numel() == Dim(rows)) {
          passes += n.op->name() == "lir.kernel";
          copies += n.op->name() == "lir.copy";
          break;
        }
    }
  };
  visit(Graph::top, false);
  EXPECT_EQ(passes, 3);  // A p with (p, A p); x, r with (r, z) and (r, r); p.
  EXPECT_EQ(copies, 0);

  // The solution of A x = A 1 is 1: its error is the residual's, 1e-12 of |b| <= 3 sqrt(rows), over the least
  // eigenvalue.
  HostTensor of_ones(DType::f64, {rows});
  for (std::int64_t i = 0; i < rows; ++i) of_ones.set_f64(i, i == 0 || i == rows - 1 ? 3 : 2);
  const HostValues out = e.run(HostValues{a, of_ones, HostTensor(DType::f64, {rows})});
  for (std::int64_t i = 0; i < rows; ++i) ASSERT_NEAR(std::get<HostTensor>(out[0]).get_f64(i), 1, 1e-9) << i;
}

}  // namespace
}  // namespace rlx

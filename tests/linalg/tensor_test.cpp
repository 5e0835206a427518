// The functions over Tensor and Csr: what they refuse, and of which line of the caller's.
#include "located.hpp"

#include <rlx/linalg/tensor.hpp>
#include <rlx/rlx.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace rlx::linalg {
namespace {

Csr two_by_three() {
  return Csr(3, Tensor::from<std::int32_t>({0, 2, 3}), Tensor::from<std::int32_t>({0, 2, 1}),
             Tensor::from({1.0, 2.0, 3.0}));
}

// Each on the line after the one that is noted.
TEST(LinalgTensor, RefusalsHaveTheCallersLine) {
  const Csr a = two_by_three();
  const Tensor m = zeros({2, 3}), v = zeros({2});
  unsigned line = 0;
  const std::vector<std::pair<std::string, std::function<void()>>> calls{
      {"linalg.solve", [&] { line = __LINE__, (void)solve(a, v); }},
      {"linalg.solve", [&] { line = __LINE__, (void)solve(m, v); }},
      {"linalg.solve_positive_definite", [&] { line = __LINE__, (void)solve_positive_definite(a, v); }},
      {"linalg.solve_positive_definite", [&] { line = __LINE__, (void)solve_positive_definite(m, v); }},
      {"linalg.triangular_solve", [&] { line = __LINE__, (void)triangular_solve(m, v); }},
      {"linalg.cholesky", [&] { line = __LINE__, (void)cholesky(m); }},
      {"linalg.spmv", [&] { line = __LINE__, (void)spmv(a, v); }},
      {"linalg.diagonal", [&] { line = __LINE__, (void)diagonal(a); }},
      {"linalg.cg", [&] { line = __LINE__, (void)cg(a, v, v); }},
      {"linalg.cg", [&] { line = __LINE__, (void)cg(a, v); }}};
  for (const auto& [op, call] : calls) expect_refused_at(line, op, call);
  const std::string what = located_refusal([&] { line = __LINE__, (void)spmv(a, v); }).what;
  EXPECT_EQ(what.substr(0, 16), "linalg.spmv: C2:") << what;
  EXPECT_NE(what.find("tensor_test.cpp:" + std::to_string(line)), std::string::npos) << what;
}

TEST(LinalgTensor, RowsOfAReportHaveTheCallersLine) {
  const auto f = jit([](const Csr& a, const Tensor& x) { return spmv(a, x); });
  const unsigned line = __LINE__ - 1;
  EXPECT_EQ(f(two_by_three(), Tensor::from({1.0, 1.0, 1.0})).to_vector<double>(), (std::vector<double>{3, 3}));
  const DispatchReport report = f.report();
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(report.rows[0].location.line, line);
}

}  // namespace
}  // namespace rlx::linalg

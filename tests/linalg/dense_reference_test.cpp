// rlx::linalg on the dense reference cases, as a user writes it: traced and compiled, by the library and by the common
// form of each operator.
#include <rlx/jit.hpp>
#include <rlx/linalg/tensor.hpp>

#include "dense_references.hpp"

namespace rlx::linalg::testing {
namespace {

class DenseReference : public ::testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DenseReference);
/// The cases with a regular square matrix; the others are of least squares.
std::vector<std::string> regular_cases() {
  std::vector<std::string> names = names_in("reference/linalg/dense", ".json");
  std::erase_if(names, [](const std::string& name) {
    const json c = load_case(name);
    return c["rows"] != c["cols"] || c["rank"] != c["rows"];
  });
  return names;
}
INSTANTIATE_TEST_SUITE_P(Shared, DenseReference, ::testing::ValuesIn(regular_cases()),
                         [](const auto& info) { return info.param; });

/// 10 n u cond, times the growth of partial pivoting, which only one case shows: 2^(n-1) for Wilkinson's.
double bound_of(const json& c, double n, double cond) {
  const bool grows = c["name"] == "wilkinson_growth_20";
  return 10 * n * unit_roundoff * cond * (grows ? std::ldexp(1.0, static_cast<int>(n) - 1) : 1);
}

template <class T>
void check(const json& c, const JitOptions& options) {
  const std::int64_t n = c["rows"];
  const double cond = number(c["cond2"]);
  const Tensor a = Tensor::from(matrix<T>(c["a"]), Extents{n, n});
  const auto b = vector<T>(c["solve_or_lstsq_b"]), x = vector<T>(c["solve_or_lstsq_x"]);
  const Tensor right = Tensor::from(b);
  const double bound = bound_of(c, static_cast<double>(n), cond);
  if (bound < 1) {  // above, no digit of x is promised
    const auto by_lu = jit([](const Tensor& m, const Tensor& v) { return linalg::solve(m, v); }, options);
    EXPECT_LE(relative_difference(by_lu(a, right).template to_vector<T>(), x), bound);
  }
  if (!c.contains("cholesky") || !c["cholesky"].is_array()) return;
  const auto factor = jit([](const Tensor& m) { return linalg::cholesky(m); }, options);
  // The factor moves with the matrix by its condition (Sun, BIT 31, 1991).
  EXPECT_LE(relative_difference(factor(a).template to_vector<T>(), matrix<T>(c["cholesky"])),
            10 * static_cast<double>(n) * unit_roundoff * std::min(cond, 1e14));
  const auto by_cholesky =
      jit([](const Tensor& m, const Tensor& v) { return linalg::solve_positive_definite(m, v); }, options);
  if (bound < 1) { EXPECT_LE(relative_difference(by_cholesky(a, right).template to_vector<T>(), x), bound); }
}

TEST_P(DenseReference, IsReachedOnEveryPath) {
  const json c = load_case(GetParam());
  for (const JitOptions& options :
       {JitOptions{.device = "cpu"}, JitOptions{.device = "cpu", .policy = Preference::force_common},
        JitOptions{.device = "reference"}}) {
    SCOPED_TRACE(options.device + (options.policy == Preference::force_common ? ", common" : ""));
    if (c["complex"].get<bool>()) check<std::complex<double>>(c, options);
    else check<double>(c, options);
  }
}

}  // namespace
}  // namespace rlx::linalg::testing

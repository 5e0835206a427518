// The operators that solve with a sparse factorization: derivatives against differences and against each right side
// alone, and batches, which become one solve.
#include <rlx/handle.hpp>
#include <rlx/jit.hpp>
#include <rlx/linalg/linalg.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/transforms.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include "sparse_systems.hpp"

namespace rlx::linalg::testing {
namespace {

// Four equations with a matrix of no symmetry, whose entries are parameters.
template <class T>
T some(double i) {
  if constexpr (std::is_same_v<T, double>) return std::sin(3 * i + 1);
  else return {std::sin(3 * i + 1), std::cos(2 * i)};
}
template <class T>
Tensor some_tensor(Extents shape, double seed) {
  std::vector<T> v(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = some<T>(seed + static_cast<double>(i));
  return Tensor::from(v, shape);
}
template <class T>
Csr some_matrix(double seed) {
  const std::vector<std::int32_t> offsets{0, 2, 5, 7, 10}, columns{0, 1, 0, 1, 3, 1, 2, 0, 2, 3};
  std::vector<T> values(10);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = some<T>(seed + static_cast<double>(k));
  for (const std::size_t diagonal : {0, 3, 6, 9}) values[diagonal] += 4;
  return to_csr(CsrView<T>{4, 4, offsets, columns, values});
}

Tensor by_lu(const Csr& a, const Tensor& b, const SparseSolveAttrs& attrs) {
  ensure_registered();
  return Tensor(build(
      {a, b}, [&](Builder&, ValuesIn v) { return Values{sparse_lu_solve(sparse_lu(v[0]), v[0], v[1], attrs)}; })[0]);
}

template <class T>
double difference(const Tensor& x, const Tensor& y) {
  return relative_difference(x.to_vector<T>(), y.to_vector<T>());
}

template <class T>
T inner(const Tensor& x, const Tensor& y) {
  const auto u = x.to_vector<T>(), v = y.to_vector<T>();
  T sum = 0;
  for (std::size_t i = 0; i < u.size(); ++i) sum += conj_of(u[i]) * v[i];
  return sum;
}

template <class T>
void check_derivatives(const SparseSolveAttrs& attrs) {
  const Csr a = some_matrix<T>(0), da = some_matrix<T>(0.3);
  const Extents shape = attrs.axis == 0 ? Extents{4, 3} : Extents{3, 4};
  const Tensor b = some_tensor<T>(shape, 20), db = some_tensor<T>(shape, 40), w = some_tensor<T>(shape, 60);
  const auto f = [&](const Csr& m, const Tensor& right) { return by_lu(m, right, attrs); };
  const auto [x, dx] = jvp(f)(a, b, da, db);
  const auto moved = [&](double h) { return f(a.with_values(a.values() + h * da.values()), b + h * db); };
  // Central differences: h^2 of the third derivative, and rounding over h.
  EXPECT_LE(difference<T>(dx, (moved(1e-5) - moved(-1e-5)) / 2e-5), 1e-8);
  // The pullback is the adjoint of the derivative, with complex numbers as pairs of real ones.
  const auto [ga, gb] = vjp(f)(a, b).second(w);
  EXPECT_NEAR(real_of(inner<T>(ga.values(), da.values()) + inner<T>(gb, db)), real_of(inner<T>(w, dx)), 1e-13);
  EXPECT_EQ(ga.entries(), a.entries());
  // Each right side alone: the matrix' cotangent is the sum of theirs.
  Tensor sum = zeros({a.entries()}, x.dtype());
  const int across = 1 - attrs.axis;
  const auto one = [&](const Tensor& t, int c) { return reshape(slice_axis(t, across, c, c + 1), {4}); };
  for (int c = 0; c < 3; ++c) {
    const auto single = [&](const Csr& m, const Tensor& right) { return by_lu(m, right, {.mode = attrs.mode}); };
    EXPECT_LE(difference<T>(one(x, c), single(a, one(b, c))), 1e-14);
    const auto [ga1, gb1] = vjp(single)(a, one(b, c)).second(one(w, c));
    EXPECT_LE(difference<T>(one(gb, c), gb1), 1e-14);
    sum = sum + ga1.values();
  }
  EXPECT_LE(difference<T>(ga.values(), sum), 1e-14);
}

TEST(SparseSolve, DifferentiatesEveryMode) {
  for (const Transpose mode : {Transpose::none, Transpose::transpose, Transpose::conjugate_transpose})
    for (const int axis : {0, 1}) {
      SCOPED_TRACE(std::string(enum_names(mode)[std::size_t(mode)]) + " axis " + std::to_string(axis));
      check_derivatives<double>({.mode = mode, .axis = axis});
      check_derivatives<c128>({.mode = mode, .axis = axis});
    }
}

// Its derivatives are those of LU at a symmetric matrix, for which differences would have to stay symmetric.
TEST(SparseSolve, CholeskyDifferentiatesAsLuDoes) {
  const Csr a{Handle(HostValue(string_of_masses().a))}, da = a.with_values(some_tensor<double>({a.entries()}, 7));
  const Tensor b = some_tensor<double>({order}, 3), db = some_tensor<double>({order}, 5),
               w = some_tensor<double>({order}, 11);
  const auto lu = [](const Csr& m, const Tensor& right) { return linalg::solve(m, right); };
  const auto cholesky = [](const Csr& m, const Tensor& right) { return solve_positive_definite(m, right); };
  const auto [one, of_one] = vjp(lu)(a, b).second(w);
  const auto [other, of_other] = vjp(cholesky)(a, b).second(w);
  EXPECT_LE(difference<double>(one.values(), other.values()), 1e-13);  // The condition is 20.
  EXPECT_LE(difference<double>(of_one, of_other), 1e-13);
  EXPECT_LE(difference<double>(jvp(lu)(a, b, da, db).second, jvp(cholesky)(a, b, da, db).second), 1e-13);
}

std::size_t rows_of(const DispatchReport& report, std::string_view op) {
  return static_cast<std::size_t>(
      std::count_if(report.rows.begin(), report.rows.end(), [&](const ReportRow& r) { return r.op == op; }));
}

// A batch of right sides is one factorization and one solve, wherever its dimension is, and so is a batch of batches.
TEST(SparseSolve, BatchIsOneSolve) {
  const Csr a = some_matrix<double>(0);
  const auto f = [&](const Tensor& b) { return linalg::solve(a, b); };
  const auto check = [](const auto& batched, const Tensor& b, const Tensor& expected) {
    const auto program = jit(batched, {.device = "cpu"});
    EXPECT_LE(difference<double>(program(b), expected), 1e-14);
    EXPECT_EQ(rows_of(program.report(), "linalg.sparse_lu"), 1u) << program.report().to_table();
    EXPECT_EQ(rows_of(program.report(), "linalg.sparse_lu_solve"), 1u) << program.report().to_table();
    EXPECT_EQ(rows_of(program.report(), "while") + rows_of(program.report(), "scan"), 0u);
  };
  const Tensor rows = some_tensor<double>({5, 4}, 1), columns = transpose(rows), x = f(columns);
  check(vmap(f), rows, transpose(x));
  check(vmap(f, {1}, 1), columns, x);
  // Members [4, 3] at each place of the batch, and members of members.
  const Tensor b = some_tensor<double>({2, 4, 3}, 9);
  const auto member = [&](int i) { return f(reshape(slice_axis(b, 0, i, i + 1), {4, 3})); };
  const Tensor members = stack({member(0), member(1)});
  check(vmap(f), b, members);
  check(vmap(f, {1}, 1), transpose(b, {1, 0, 2}), transpose(members, {1, 0, 2}));
  check(vmap(f, {2}, 2), transpose(b, {1, 2, 0}), transpose(members, {1, 2, 0}));
  check(vmap(vmap(f)), transpose(b, {0, 2, 1}), transpose(members, {0, 2, 1}));
  check(vmap(vmap(f, {1}, 1)), b, members);
  // Not a batch at all: the members differ in what the matrix is made of.
  EXPECT_THROW(vmap([&](const Tensor& v) { return linalg::solve(a.with_values(v), zeros({4})); })(zeros({2, 10})),
               VerifyError);
}

TEST(SparseSolve, MeasuresOfABatchAreTheMembers) {
  const Csr a = some_matrix<double>(0);
  const auto measured = [&](const Tensor& b) {
    ensure_registered();
    const Handles r = build({a, b}, [](Builder&, ValuesIn v) {
      const SparseSolution s = sparse_lu_solve_measured(sparse_lu(v[0]), v[0], v[1], {.refine = 0});
      return Values{s.x, s.backward_error, s.relative_residual};
    });
    return std::array{Tensor(r[1]), Tensor(r[2])};
  };
  const Tensor b = some_tensor<double>({3, 4, 2}, 5);
  const auto [backward, relative] = vmap(measured)(b);
  EXPECT_EQ(backward.shape(), (Extents{3, 2}));
  for (int i = 0; i < 3; ++i) {
    const auto [one, of_b] = measured(reshape(slice_axis(b, 0, i, i + 1), {4, 2}));
    for (std::size_t k = 0; k < 2; ++k) {
      const std::size_t at = static_cast<std::size_t>(i) * 2 + k;
      EXPECT_NEAR(backward.to_vector<double>()[at], one.to_vector<double>()[k], 2e-16);
      EXPECT_NEAR(relative.to_vector<double>()[at], of_b.to_vector<double>()[k], 1e-15);
    }
  }
}

}  // namespace
}  // namespace rlx::linalg::testing

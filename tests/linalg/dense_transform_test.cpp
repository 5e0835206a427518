// Derivatives and batches of the dense solves and factorizations: against closed forms, differences and loops over the
// members, by LAPACK and by the common form of each operator.
#include "linalg_catalog.hpp"

#include <rlx/jit.hpp>
#include <rlx/linalg/build.hpp>
#include <rlx/linalg/tensor.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/transform/vjp.hpp>
#include <rlx/transform/vmap.hpp>
#include <rlx/transforms.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace rlx::linalg {
namespace {

constexpr std::int64_t n = 4, members = 3;
using Numbers = std::vector<double>;

Numbers numbers(std::size_t count, double phase) {
  Numbers v(count);
  for (std::size_t i = 0; i < count; ++i) v[i] = std::sin(phase + 1.7 * static_cast<double>(i));
  return v;
}
std::size_t at(std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * n + j); }
/// Of condition below 10; the largest entry of each column stands in another row than its own, so that rows are
/// exchanged.
Numbers general(double phase) {
  Numbers a = numbers(n * n, phase);
  for (std::int64_t i = 0; i < n; ++i) a[at(i, (i + 1) % n)] += 5;
  return a;
}
Numbers symmetric(double phase) {
  Numbers a = numbers(n * n, phase);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) a[at(j, i)] = a[at(i, j)];
  return a;
}
Numbers positive_definite(double phase) {
  Numbers a = symmetric(phase);
  for (std::int64_t i = 0; i < n; ++i) a[at(i, i)] += 5;
  return a;
}
Tensor square(const Numbers& v) { return Tensor::from(v, Extents{n, n}); }
Tensor vector(double phase) { return Tensor::from(numbers(n, phase)); }

void expect_near(const Tensor& got, const Numbers& expected, double tolerance) {
  const Numbers found = got.to_vector<double>();
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
}

/// The paths on which a program may run.
std::vector<JitOptions> paths() {
  return {{.device = "cpu"}, {.device = "cpu", .policy = Preference::force_common}, {.device = "reference"}};
}
// Entries are about 1 and conditions below 10, so that 1e-12 leaves thousands of roundings.
constexpr double rounding = 1e-12;

// --- What a derivative is made of.

std::map<std::string, int> counted(const Graph& g) {
  std::map<std::string, int> names;
  for (NodeId id : g.region(Graph::top).nodes) ++names[std::string(g.node(id).op->name())];
  return names;
}
template <class F>
Graph solving(const F& solve) {
  Graph g("solving");
  Builder b(g, linalg_catalog().operators);
  const Value a = b.input(f64({n, n}), "a"), right = b.input(f64({n}), "b");
  b.output(solve(a, right), "x");
  return g;
}
Value by_lu(Value a, Value b) { return solve(a, b); }
Value by_cholesky(Value a, Value b) { return solve_positive_definite(a, b); }

TEST(DenseDerivative, IsOneSolveMoreWithTheSameFactors) {
  const auto both = counted(transform::vjp(solving(by_lu), linalg_catalog().operators));
  EXPECT_EQ(both.at("linalg.lu"), 1);
  EXPECT_EQ(both.at("linalg.solve_by_lu"), 2);
  EXPECT_EQ(both.count("linalg.triangular_solve"), 0);
  EXPECT_EQ(both.at("dot_general"), 1);  // the outer product
  const auto of_b = counted(transform::vjp(solving(by_lu), linalg_catalog().operators, {.wanted = {false, true}}));
  EXPECT_EQ(of_b.count("dot_general"), 0);

  const auto hermitian = counted(transform::vjp(solving(by_cholesky), linalg_catalog().operators));
  EXPECT_EQ(hermitian.at("linalg.cholesky"), 1);
  EXPECT_EQ(hermitian.at("linalg.solve_by_cholesky"), 2);
  EXPECT_EQ(hermitian.count("linalg.triangular_solve"), 0);
  EXPECT_EQ(hermitian.at("dot_general"), 1);
}

TEST(DenseDerivative, OfSecondOrderFactorsOnceToo) {
  const Registry& r = linalg_catalog().operators;
  const auto twice = counted(transform::vjp(transform::vjp(solving(by_lu), r), r));
  EXPECT_EQ(twice.at("linalg.lu"), 1);
  EXPECT_EQ(twice.count("linalg.triangular_solve"), 0);
}

TEST(DenseBatch, OfRightSidesAloneIsOneSolveWithColumns) {
  for (const auto& f : {solving(by_lu), solving(by_cholesky)}) {
    const Graph g = transform::vmap(f, linalg_catalog().operators, {.in_axes = {-1, 0}, .size = members});
    int solves = 0;
    for (NodeId id : g.region(Graph::top).nodes) {
      if (!g.node(id).op->name().starts_with("linalg.")) continue;
      ++solves;
      EXPECT_EQ(std::get<TensorType>(g.type(g.node(id).operands[0])).shape, (Shape{n, n}));
      EXPECT_EQ(std::get<TensorType>(g.type(g.node(id).operands[1])).shape, (Shape{n, members}));
    }
    EXPECT_EQ(solves, 1);
  }
}

TEST(DenseSolve, IsNativeWhereItMustBe) {
  const JitOptions native{.device = "cpu", .policy = Preference::force_native};
  const auto general_solve = [](const Tensor& a) { return solve(a, vector(1)); };
  const auto definite_solve = [](const Tensor& a) { return solve_positive_definite(a, vector(1)); };
  const Tensor a = square(positive_definite(0.3));
  const Numbers x = jit(general_solve, native)(a).to_vector<double>();
  expect_near(jit(definite_solve, native)(a), x, rounding);
}

// --- Values of derivatives.

TEST(DenseDerivative, OfASolveIsTheAdjointSolve) {
  const Numbers a = general(0.3), w = numbers(n, 2);
  const auto loss = [&](const Tensor& m, const Tensor& v) { return sum(Tensor::from(w) * solve(m, v)); };
  for (const JitOptions& options : paths()) {
    SCOPED_TRACE(options.device);
    const Tensor b = vector(1);
    const auto gradients = jit(grad<0, 1>(loss), options)(square(a), b);
    const Numbers x = solve(square(a), b).to_vector<double>();
    const Numbers a_bar = std::get<0>(gradients).to_vector<double>(),
                  b_bar = std::get<1>(gradients).to_vector<double>();
    for (std::int64_t i = 0; i < n; ++i) {
      double product = 0;  // A^T b_bar = w
      for (std::int64_t j = 0; j < n; ++j) product += a[at(j, i)] * b_bar[static_cast<std::size_t>(j)];
      EXPECT_NEAR(product, w[static_cast<std::size_t>(i)], rounding);
      for (std::int64_t j = 0; j < n; ++j)  // A_bar = -b_bar x^T
        EXPECT_NEAR(a_bar[at(i, j)], -b_bar[static_cast<std::size_t>(i)] * x[static_cast<std::size_t>(j)], rounding);
    }
  }
}

/// Functions of one matrix to a scalar, with a matrix to look at and a direction that stays where they are defined.
struct Case {
  std::string name;
  Tensor (*loss)(const Tensor&);
  Numbers a, direction;
};
std::vector<Case> cases() {
  return {{"solve",
           [](const Tensor& a) {
             const Tensor x = solve(a, vector(1));
             return sum(x * x * vector(2));
           },
           general(0.3), numbers(n * n, 4)},
          {"solve_positive_definite",
           [](const Tensor& a) {
             const Tensor x = solve_positive_definite(a, vector(1));
             return sum(x * x * vector(2));
           },
           positive_definite(0.3), symmetric(4)},
          {"cholesky",
           [](const Tensor& a) {
             const Tensor l = cholesky(a);
             return sum(l * l * l * square(numbers(n * n, 2)));
           },
           positive_definite(0.3), symmetric(4)},
          {"triangular_solve",
           [](const Tensor& a) {
             const Tensor x = triangular_solve(a, vector(1), {.lower = false, .mode = Transpose::transpose});
             return sum(x * x * vector(2));
           },
           positive_definite(0.3), numbers(n * n, 4)}};
}
/// Central difference of f along the direction; f is smooth, so that its error is about h^2 and 1e-16 / h.
template <class F>
Tensor difference(const Case& c, const F& f) {
  constexpr double h = 1e-5;
  Numbers up = c.a, down = c.a;
  for (std::size_t i = 0; i < up.size(); ++i) up[i] += h * c.direction[i], down[i] -= h * c.direction[i];
  return (f(square(up)) - f(square(down))) / (2 * h);
}
constexpr double by_difference = 1e-7;

TEST(DenseDerivative, MatchesDifferences) {
  for (const Case& c : cases())
    for (const JitOptions& options : paths()) {
      SCOPED_TRACE(c.name + " on " + options.device);
      const double expected = difference(c, c.loss).item();
      const auto [value, pushed] = jit(jvp(c.loss), options)(square(c.a), square(c.direction));
      EXPECT_NEAR(pushed.item(), expected, by_difference);
      const Tensor gradient = jit(grad(c.loss), options)(square(c.a));
      EXPECT_NEAR(sum(gradient * square(c.direction)).item(), pushed.item(), rounding);
    }
}

TEST(DenseDerivative, HessianTimesVectorMatchesDifferencesOfTheGradient) {
  for (const Case& c : cases())
    for (const JitOptions& options : paths()) {
      SCOPED_TRACE(c.name + " on " + options.device);
      const Numbers expected = difference(c, grad(c.loss)).to_vector<double>();
      const auto [gradient, forward] = jit(jvp(grad(c.loss)), options)(square(c.a), square(c.direction));
      expect_near(forward, expected, by_difference);
      const auto slope = [&](const Tensor& a) { return sum(grad(c.loss)(a) * square(c.direction)); };
      expect_near(jit(grad(slope), options)(square(c.a)), forward.to_vector<double>(), rounding);
    }
}

// --- Batches.

Tensor many(Numbers (*one)(double)) {
  Tensors all;
  for (std::int64_t m = 0; m < members; ++m) all.push_back(square(one(0.3 + static_cast<double>(m))));
  return stack(all);
}
Tensor member(const Tensor& all, std::int64_t m) {
  const Tensor one = slice_axis(all, 0, m, m + 1);
  return all.rank() == 3 ? reshape(one, {n, n}) : reshape(one, {n});
}
Numbers joined(const std::vector<Tensor>& parts) { return stack(parts).to_vector<double>(); }

TEST(DenseBatch, EqualsTheLoopOverItsMembers) {
  const Tensor sides = Tensor::from(numbers(members * n, 1), Extents{members, n});
  const auto lu = [](const Tensor& a, const Tensor& b) { return solve(a, b); };
  const auto spd = [](const Tensor& a, const Tensor& b) { return solve_positive_definite(a, b); };
  const auto check = [&](const auto& f, const Tensor& matrices) {
    for (const JitOptions& options : paths()) {
      SCOPED_TRACE(options.device);
      Tensors both, of_a, of_b, gradients;
      const auto loss = [&](const Tensor& a, const Tensor& b) { return sum(f(a, b) * vector(2)); };
      for (std::int64_t m = 0; m < members; ++m) {
        both.push_back(f(member(matrices, m), member(sides, m)));
        of_a.push_back(f(member(matrices, m), member(sides, 0)));
        of_b.push_back(f(member(matrices, 0), member(sides, m)));
        gradients.push_back(grad(loss)(member(matrices, m), member(sides, m)));
      }
      expect_near(jit(vmap(f), options)(matrices, sides), joined(both), rounding);
      expect_near(jit(vmap(f, {0, -1}), options)(matrices, member(sides, 0)), joined(of_a), rounding);
      expect_near(jit(vmap(f, {-1, 0}), options)(member(matrices, 0), sides), joined(of_b), rounding);
      expect_near(jit(vmap(grad(loss)), options)(matrices, sides), joined(gradients), rounding);
      const auto all = [&](const Tensor& a, const Tensor& b) { return sum(vmap(f)(a, b) * vector(2)); };
      expect_near(jit(grad(all), options)(matrices, sides), joined(gradients), rounding);
    }
  };
  check(lu, many(general));
  check(spd, many(positive_definite));
}

TEST(DenseBatch, OfCholeskyEqualsTheLoopOverItsMembers) {
  const auto factor = [](const Tensor& a) { return cholesky(a); };
  const auto loss = [](const Tensor& a) { return sum(cholesky(a) * square(numbers(n * n, 2))); };
  const Tensor matrices = many(positive_definite);
  for (const JitOptions& options : paths()) {
    SCOPED_TRACE(options.device);
    Tensors factors, gradients;
    for (std::int64_t m = 0; m < members; ++m) {
      factors.push_back(cholesky(member(matrices, m)));
      gradients.push_back(grad(loss)(member(matrices, m)));
    }
    expect_near(jit(vmap(factor), options)(matrices), joined(factors), rounding);
    expect_near(jit(vmap(grad(loss)), options)(matrices), joined(gradients), rounding);
  }
}

TEST(DenseBatch, SaysWhichMatrixIsSingular) {
  const Tensor matrices = stack(Tensors{square(general(0.3)), square(Numbers(n * n, 0))});
  const auto f = jit(vmap([](const Tensor& a) { return solve(a, vector(1)); }), {.device = "cpu"});
  try {
    f(matrices).to_vector<double>();
    FAIL() << "a singular matrix went through";
  } catch (const NumericalError& e) {
    EXPECT_NE(std::string(e.what()).find("matrix 1 of the batch"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace rlx::linalg

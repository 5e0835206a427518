// Derivatives, batches and their nesting, against closed forms; and a network inside a sparse solve.
#include <rlx/linalg/tensor.hpp>
#include <rlx/rlx.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace rlx {
namespace {

TEST(Grad, OfAScalarFunction) {
  const auto f = [](const Tensor& x) { return sin(x) * x; };
  EXPECT_NEAR(grad(f)(0.5).item(), std::cos(0.5) * 0.5 + std::sin(0.5), 1e-15);
  const auto [value, slope] = jit(value_and_grad(f))(0.5);
  EXPECT_NEAR(value.item(), std::sin(0.5) * 0.5, 1e-15);
  EXPECT_NEAR(slope.item(), std::cos(0.5) * 0.5 + std::sin(0.5), 1e-15);
}

TEST(Grad, Nests) {
  const auto f = [](const Tensor& x) { return x * x * x * x; };
  EXPECT_NEAR(grad(grad(f))(2.0).item(), 48, 1e-12);
  EXPECT_NEAR(jit(grad(grad(grad(f))))(2.0).item(), 48, 1e-12);
  EXPECT_EQ(grad(jit(f))(2.0).item(), 32);
}

TEST(Grad, OfChosenArgumentsKeepsTheirStructure) {
  const auto f = [](const Tensor& x, const std::vector<Tensor>& w, const Tensor& y) {
    return sum(x * w[0] + w[1] * w[1] * y);
  };
  const Tensor x = Tensor::from({1.0, 2.0}), y = Tensor::from({3.0, 4.0});
  const std::vector<Tensor> w{x, y};
  const std::vector<Tensor> gw = grad<1>(f)(x, w, y);
  EXPECT_EQ(gw[0].to_vector<double>(), (std::vector<double>{1, 2}));
  EXPECT_EQ(gw[1].to_vector<double>(), (std::vector<double>{18, 32}));
  const auto [gy, gx] = grad<2, 0>(f)(x, w, y);
  EXPECT_EQ(gy.to_vector<double>(), (std::vector<double>{9, 16}));
  EXPECT_EQ(gx.to_vector<double>(), (std::vector<double>{1, 2}));
}

TEST(Grad, PassesFurtherResultsThrough) {
  const auto f = [](const Tensor& x) { return std::pair(sum(x * x), x + 1); };
  const auto [value, g] = value_and_grad(f)(Tensor::from({1.0, 2.0}));
  EXPECT_EQ(value.first.item(), 5);
  EXPECT_EQ(value.second.to_vector<double>(), (std::vector<double>{2, 3}));
  EXPECT_EQ(g.to_vector<double>(), (std::vector<double>{2, 4}));
}

// d/da of (d/dx of a x^2) at x is 2x: the inner function uses what the outer one differentiates.
TEST(Grad, SeesThroughCaptures) {
  const auto outer = [](const Tensor& a) { return grad([&](const Tensor& x) { return a * x * x; })(3.0); };
  EXPECT_NEAR(grad(outer)(5.0).item(), 6, 1e-14);
  EXPECT_NEAR(jit(grad(outer))(5.0).item(), 6, 1e-14);
}

TEST(Grad, OfACheckpointIsTheSame) {
  const Tensor w = Tensor::from({0.5, -0.25, 2.0});
  const auto layer = [&](const Tensor& x) { return sin(w * sin(x)); };  // uses w from around it
  const auto plain = [&](const Tensor& x) { return sum(layer(layer(x))); };
  const auto saved = [&](const Tensor& x) { return sum(checkpoint(layer)(checkpoint(layer)(x))); };
  const Tensor x = Tensor::from({0.3, 1.0, -2.0});
  EXPECT_EQ(jit(grad(saved))(x).to_vector<double>(), jit(grad(plain))(x).to_vector<double>());
  EXPECT_EQ(jit(saved)(x).item(), jit(plain)(x).item());
  const auto curvature = [&](const auto& f) {
    return jit(grad([&](const Tensor& v) { return sum(grad(f)(v)); }))(x).template to_vector<double>();
  };
  const std::vector<double> got = curvature(saved), wanted = curvature(plain);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], 1e-15 * (1 + std::abs(wanted[i])));  // sums of cotangents in another order
  EXPECT_EQ(grad([](const Tensor& v) { return stop_gradient(v * v) * v; })(3.0).item(), 9);
}

TEST(Grad, RefusesWhatHasNone) {
  EXPECT_THROW(grad([](const Tensor& x) { return x; })(Tensor::from({1.0, 2.0})), ArgumentError);
  EXPECT_THROW(grad([](const Tensor& x) { return sum(convert(x, DType::f64)); })(arange(3)), ArgumentError);
}

TEST(Jvp, PushesTangents) {
  const auto f = [](const Tensor& x, const Tensor& y) { return x * y + exp(x); };
  const auto [value, tangent] = jvp(f)(0.3, 2.0, 1.0, 10.0);
  EXPECT_NEAR(value.item(), 0.6 + std::exp(0.3), 1e-15);
  EXPECT_NEAR(tangent.item(), 2 + 3 + std::exp(0.3), 1e-14);
  EXPECT_THROW(jvp(f)(0.3, 2.0, ones({2}), 1.0), ArgumentError);
  // Forward over reverse.
  const auto g = grad([](const Tensor& x) { return sum(x * x * x); });
  const Tensor x = Tensor::from({1.0, 2.0});
  EXPECT_EQ(jit([&](const Tensor& v) { return jvp(g)(x, v).second; })(ones({2})).to_vector<double>(),
            (std::vector<double>{6, 12}));
}

TEST(Vjp, PullsCotangents) {
  const auto f = [](const Tensor& x, const Tensor& y) { return std::pair(x * y, x + y); };
  const auto [value, pull] = vjp(f)(Tensor(3.0), Tensor(4.0));
  EXPECT_EQ(value.first.item(), 12);
  const auto [cx, cy] = pull({Tensor(10.0), Tensor(1.0)});
  EXPECT_EQ(cx.item(), 41);
  EXPECT_EQ(cy.item(), 31);
}

TEST(Vmap, DoesAllMembersAtOnce) {
  const auto f = [](const Tensor& x, const Tensor& y) { return dot(x, y); };
  const Tensor xs = Tensor::from({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, Extents{3, 2}), y = Tensor::from({1.0, -1.0});
  EXPECT_EQ(vmap(f, {0, -1})(xs, y).to_vector<double>(), (std::vector<double>{-1, -1, -1}));
  EXPECT_EQ(vmap(f, {1, 1})(transpose(xs), transpose(xs)).to_vector<double>(), (std::vector<double>{5, 25, 61}));
  EXPECT_EQ(jit(vmap(grad(f), {0, -1}))(xs, y).to_vector<double>(), (std::vector<double>{1, -1, 1, -1, 1, -1}));
  EXPECT_THROW(vmap(f, {0})(xs, y), ArgumentError);
  EXPECT_THROW(vmap(f, {-1, -1})(xs, y), ArgumentError);
  EXPECT_THROW(vmap(f)(xs, y), ArgumentError);
}

TEST(Vmap, SeesThroughCaptures) {
  const auto outer =
      jit([](const Tensor& a, const Tensor& xs) { return vmap([&](const Tensor& x) { return x * a; })(xs); });
  EXPECT_EQ(outer(2.0, Tensor::from({1.0, 5.0})).to_vector<double>(), (std::vector<double>{2, 10}));
}

// -(k u')' on a line of n nodes with k between nodes: tridiagonal.
struct Line {
  std::int64_t n = 6;
  Tensor offsets, indices, left, right;
  Line() {
    std::vector<std::int32_t> o{0}, c;
    for (std::int32_t i = 0; i < n; ++i) {
      for (std::int32_t j = i - 1; j <= i + 1; ++j)
        if (0 <= j && j < n) c.push_back(j);
      o.push_back(static_cast<std::int32_t>(c.size()));
    }
    offsets = Tensor::from(o), indices = Tensor::from(c);
    std::vector<double> l, r;  // [entries, n + 1]: which conductivities an entry sums, with signs.
    for (std::int32_t i = 0; i < n; ++i)
      for (std::int32_t j = i - 1; j <= i + 1; ++j) {
        if (j < 0 || j >= n) continue;
        for (std::int32_t k = 0; k <= n; ++k)
          l.push_back(i == j ? (k == i || k == i + 1) : k == std::max(i, j) ? -1 : 0);
      }
    left = Tensor::from(l, Extents{static_cast<std::int64_t>(c.size()), n + 1});
  }
  Csr stiffness(const Tensor& k) const { return Csr(n, offsets, indices, matmul(left, k)); }
};

TEST(Linalg, GradientThroughASparseSolve) {
  const Line line;
  const Tensor position = convert(arange(line.n + 1), DType::f64) / 6, b = ones({line.n});
  const auto conductivity = [&](const Tensor& theta) {  // A small network: 1 + sum of 2 tanh units, squared.
    const Tensor hidden =
        tanh(broadcast(reshape(position, {7, 1}), {7, 2}) * slice_axis(theta, 0, 0, 2) + slice_axis(theta, 0, 2, 4));
    return 1 + square(matmul(hidden, slice_axis(theta, 0, 4, 6)));
  };
  const Tensor measured = full({line.n}, 0.5);
  auto loss = [&](Tensor theta, Tensor rhs) {
    Csr K = line.stiffness(conductivity(theta));
    return mean(square(linalg::solve(K, rhs) - measured));
  };
  auto step = jit(value_and_grad(loss), {.device = "cpu"});
  Tensor theta = Tensor::from({0.5, -0.3, 0.2, 0.1, 0.7, 0.4});
  const auto [value, gradient] = step(theta, b);
  EXPECT_NE(step.report().to_table().find("linalg.sparse_lu"), std::string::npos);
  // Against the plain elimination of the tridiagonal system in C++, by central differences.
  const auto plain = [&](std::vector<double> t) {
    const int n = 6;
    std::vector<double> k(n + 1), d(n), u(n, 1.0);
    for (int i = 0; i <= n; ++i) {
      const double s = std::tanh(i / 6.0 * t[0] + t[2]) * t[4] + std::tanh(i / 6.0 * t[1] + t[3]) * t[5];
      k[static_cast<std::size_t>(i)] = 1 + s * s;
    }
    for (std::size_t i = 0; i < n; ++i) d[i] = k[i] + k[i + 1];
    for (std::size_t i = 1; i < n; ++i) {
      const double m = -k[i] / d[i - 1];
      d[i] -= m * -k[i];
      u[i] -= m * u[i - 1];
    }
    u[n - 1] /= d[n - 1];
    for (std::size_t i = n - 1; i-- > 0;) u[i] = (u[i] + k[i + 1] * u[i + 1]) / d[i];
    double total = 0;
    for (double x : u) total += (x - 0.5) * (x - 0.5);
    return total / n;
  };
  const std::vector<double> t = theta.to_vector<double>(), g = gradient.to_vector<double>();
  EXPECT_NEAR(value.item(), plain(t), 1e-12);
  for (std::size_t i = 0; i < t.size(); ++i) {
    auto up = t, down = t;
    up[i] += 1e-5, down[i] -= 1e-5;
    EXPECT_NEAR(g[i], (plain(up) - plain(down)) / 2e-5, 1e-8) << i;
  }
  for (int i = 0; i < 5; ++i) theta -= 0.05 * step(theta, b).second;
  EXPECT_LT(step(theta, b).first.item(), value.item());
  EXPECT_EQ(step.signatures(), 1u);
}

TEST(Linalg, SparseMatricesAreArgumentsAndCaptures) {
  const Line line;
  const Csr k = line.stiffness(ones({7}));
  const auto captured = jit([&](const Tensor& b) { return linalg::solve(k, b); });
  const auto given =
      jit([](const Csr& a, const Tensor& b) { return std::pair(linalg::solve(a, b), a.with_values(2 * a.values())); });
  const Tensor b = ones({6}), x = captured(b);
  EXPECT_NEAR(max(abs(linalg::spmv(k, x) - b)).item(), 0, 1e-12);
  const auto [y, twice] = given(k, b);
  EXPECT_EQ(x.to_vector<double>(), y.to_vector<double>());
  EXPECT_EQ(twice.values().to_vector<double>()[0], 4);
  EXPECT_EQ(given.signatures(), 1u);
  given(twice, b);
  EXPECT_EQ(given.signatures(), 1u);
  // The forward derivative of A(s)^-1 b with A = s K is -x / s^2.
  const auto [z, dz] = jvp([&](const Tensor& s) { return linalg::solve(k.with_values(s * k.values()), b); })(2.0, 1.0);
  EXPECT_NEAR(max(abs(dz + x / 4)).item(), 0, 1e-12);
  EXPECT_NEAR(max(abs(z - x / 2)).item(), 0, 1e-12);
}

TEST(Linalg, RunsAtOnceAndHasSparseGradients) {
  const Line line;
  const Csr k = line.stiffness(ones({7}));
  const Tensor x = linalg::solve(k, ones({6}));
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(x.to_vector<double>()[i], 0.5 * (i + 1.0) * (6.0 - i), 1e-12);
  EXPECT_NEAR(max(abs(linalg::spmv(k, x) - 1)).item(), 0, 1e-12);
  EXPECT_NEAR(max(abs(linalg::cg(k, ones({6})).x - x)).item(), 0, 1e-8);
  const Csr g = grad([](const Csr& a, const Tensor& v) { return sum(linalg::spmv(a, v)); })(k, x);
  EXPECT_EQ(g.entries(), k.entries());
  EXPECT_NEAR(g.values().to_vector<double>()[1], x.to_vector<double>()[1], 1e-14);
  EXPECT_NEAR(
      linalg::solve(Tensor::from({4.0, 1.0, 1.0, 3.0}, Extents{2, 2}), Tensor::from({1.0, 2.0})).to_vector<double>()[1],
      7.0 / 11, 1e-14);
}

}  // namespace
}  // namespace rlx

// Branches and loops that depend on values: at once, compiled, differentiated, and with captures.
#include <rlx/rlx.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace rlx {
namespace {

TEST(Cond, RunsOneBranch) {
  const auto f = [](const Tensor& x) {
    return cond(x > 0, [](const Tensor& v) { return sqrt(v); }, [](const Tensor& v) { return -v; }, x);
  };
  EXPECT_EQ(f(9.0).item(), 3);
  EXPECT_EQ(jit(f)(-4.0).item(), 4);
  EXPECT_NEAR(grad(f)(4.0).item(), 0.25, 1e-15);
  EXPECT_EQ(jit(grad(f))(-4.0).item(), -1);
  EXPECT_EQ(vmap(f)(Tensor::from({9.0, -1.0})).to_vector<double>(), (std::vector<double>{3, 1}));
  EXPECT_THROW(cond(f(1.0) > 0, [] { return Tensor(1.0); }, [] { return Tensor(true); }), VerifyError);
}

// Batched it is a select, which the report tells from one that was written as such.
TEST(Cond, BatchedIsReported) {
  const auto f = [](const Tensor& x) {
    return cond(x > 0, [](const Tensor& v) { return sqrt(v); }, [](const Tensor& v) { return -v; }, x);
  };
  const auto g = [](const Tensor& x) { return where(x > 0, sqrt(x), -x); };
  const std::string note = "if over a batched predicate: both branches run for all members";
  const auto of_cond = jit(vmap(f));
  const auto of_where = jit(vmap(g));
  const auto alone = jit(f);
  const Tensor x = Tensor::from({9.0, -1.0});
  EXPECT_EQ(of_cond(x).to_vector<double>(), (std::vector<double>{3, 1}));
  EXPECT_EQ(of_where(x).to_vector<double>(), (std::vector<double>{3, 1}));
  alone(9.0);
  std::size_t found = 0;
  for (const ReportRow& row : of_cond.report().rows) {
    const bool noted = std::count(row.notes.begin(), row.notes.end(), note) > 0;
    EXPECT_EQ(noted, row.op == "select") << of_cond.report();
    found += noted;
    if (noted) { EXPECT_NE(row.location.file.find("control_flow_test.cpp"), std::string::npos) << of_cond.report(); }
  }
  EXPECT_EQ(found, 1u);
  EXPECT_NE(of_cond.report().to_table().find("      note: " + note + "\n"), std::string::npos) << of_cond.report();
  EXPECT_NE(of_cond.report().to_json().find("\"" + note + "\""), std::string::npos);
  for (const DispatchReport& r : {of_where.report(), alone.report()})
    EXPECT_EQ(r.to_table().find("batched predicate"), std::string::npos) << r;
}

TEST(Cond, LiftsCaptures) {
  const auto f = [](const Tensor& x, const Tensor& y) {
    const Tensor z = x * y;
    return cond(x < y, [&] { return z + x; }, [&] { return z - y; });
  };
  EXPECT_EQ(jit(f)(2.0, 3.0).item(), 8);
  EXPECT_EQ(jit(f)(3.0, 2.0).item(), 4);
  EXPECT_EQ(jit(grad(f))(2.0, 3.0).item(), 4);
  EXPECT_EQ(grad<1>(f)(3.0, 2.0).item(), 2);
}

// Newton's iteration for a square root, until it stands still.
TEST(WhileLoop, RunsUntilTheConditionFails) {
  const auto root = [](const Tensor& a) {
    using State = std::pair<Tensor, Tensor>;
    return while_loop([&](const State& s) { return abs(s.first - s.second) > 1e-14 * a; },
                      [&](const State& s) { return State((s.first + a / s.first) / 2, s.first); }, State(a, 0 * a))
        .first;
  };
  EXPECT_NEAR(root(2.0).item(), std::sqrt(2.0), 1e-14);
  EXPECT_NEAR(jit(root)(10.0).item(), std::sqrt(10.0), 1e-14);
  EXPECT_THROW(grad(root)(2.0), VerifyError);
}

TEST(WhileLoop, HandsTuplesOverInParts) {
  const auto f = jit([](const Tensor& x) {
    const auto [i, p] =
        while_loop([](const Tensor& i, const Tensor&) { return i < 5; },
                   [&](const Tensor& i, const Tensor& p) { return std::tuple<Tensor, Tensor>(i + 1, p * x); },
                   std::tuple<Tensor, Tensor>(Tensor::from({0}, Extents{}), 0 * x + 1), 8);
    return p;
  });
  EXPECT_EQ(f(2.0).item(), 32);
  EXPECT_NEAR(grad(f)(2.0).item(), 80, 1e-12);
}

TEST(ScanLoop, CarriesAndStacks) {
  const Tensor xs = Tensor::from({1.0, 2.0, 3.0});
  const auto f = [](const Tensor& k, const Tensor& v) {
    return scan_loop([&](const Tensor& s, const Tensor& x) { return std::pair(s * k + x, s); }, 0.0, v);
  };
  const auto [last, before] = f(10.0, xs);
  EXPECT_EQ(last.item(), 123);
  EXPECT_EQ(before.to_vector<double>(), (std::vector<double>{0, 1, 12}));
  EXPECT_EQ(jit(f)(10.0, xs).first.item(), 123);
  // d/dk of k^2 + 2k + 3
  EXPECT_NEAR(jit(grad([&](const Tensor& k) { return f(k, xs).first; }))(10.0).item(), 22, 1e-12);
  EXPECT_THROW(scan_loop([](const Tensor& s, const std::pair<Tensor, Tensor>& x) { return std::pair(s, x.first); }, 0.0,
                         std::pair(xs, ones({2}))),
               ArgumentError);
}

TEST(ForLoop, CountsAndNests) {
  const auto f = [](const Tensor& x) {
    return for_loop(
        3,
        [&](const Tensor& i, const Tensor& s) {
          return for_loop(2, [&](const Tensor&, const Tensor& t) { return t + x * convert(i, DType::f64); }, s);
        },
        0 * x);
  };
  EXPECT_EQ(f(5.0).item(), 30);
  EXPECT_EQ(jit(f)(5.0).item(), 30);
  EXPECT_EQ(jit(grad(f))(5.0).item(), 6);
}

// An explicit step of the heat equation, again and again, over a big array that is captured.
TEST(ForLoop, AgreesWithAPlainLoop) {
  const std::int64_t n = 40;
  std::vector<double> u(n), source(n);
  for (std::size_t i = 0; i < u.size(); ++i)
    u[i] = std::sin(0.1 * static_cast<double>(i * i)), source[i] = 0.01 * static_cast<double>(i);
  const Tensor q = Tensor::from(source);
  const auto steps = jit([&](const Tensor& v) {
    return for_loop(
        10,
        [&](const Tensor&, const Tensor& s) {
          const Tensor wide = pad(s, 0, {1}, {1});
          return s + 0.2 * (slice_axis(wide, 0, 0, n) - 2 * s + slice_axis(wide, 0, 2, n + 2)) + q;
        },
        v);
  });
  const std::vector<double> got = steps(Tensor::from(u)).to_vector<double>();
  for (int k = 0; k < 10; ++k) {
    std::vector<double> next = u;
    for (std::size_t i = 0; i < u.size(); ++i)
      next[i] += 0.2 * ((i ? u[i - 1] : 0) - 2 * u[i] + (i + 1 < u.size() ? u[i + 1] : 0)) + source[i];
    u = next;
  }
  for (std::size_t i = 0; i < u.size(); ++i) EXPECT_NEAR(got[i], u[i], 1e-13);
}

}  // namespace
}  // namespace rlx

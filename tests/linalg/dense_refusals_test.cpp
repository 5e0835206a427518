// A matrix that a dense solve cannot answer for is a NumericalError on every device and by every path, alone and in a
// batch; a right side that is not finite is none.
#include "linalg_catalog.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/linalg/build.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

namespace rlx::linalg::testing {
namespace {

using Complexes = std::vector<std::complex<double>>;
constexpr double inf = INFINITY;

struct Case {
  const char* name;
  std::function<Value(Value a, Value b)> build;
  Complexes sound, x;  ///< And the solution for b = (3, 4).
  struct Wrong {
    Complexes a;
    std::int64_t info;
  };
  std::vector<Wrong> wrong;
};

Value rows_of(Value a, std::vector<double> rows) {
  HostTensor one = HostTensor::from(DType::i32, {2}, rows);
  const Value v = ops::constant(*a.builder, one);
  return a.rank() == 2 ? v : ops::insert_axis(v, 0, a.shape()[0]);
}

std::vector<Case> cases() {
  const auto triangular = [](TriangularSolveAttrs attrs) {
    return [attrs](Value a, Value b) { return triangular_solve(a, b, attrs); };
  };
  return {{"solve",
           [](Value a, Value b) { return solve(a, b); },
           {1, 2, 4, 6},
           {-5, 4},
           {{{1, 2, 2, 4}, 2}, {{0, 0, 0, 3}, 1}, {{0, 2, 0, 3}, 1}, {{1, NAN, 0, 1}, 1}, {{1, 0, inf, 1}, 2}}},
          {"solve_positive_definite",
           [](Value a, Value b) { return solve_positive_definite(a, b); },
           {4, 2, 2, 5},
           {7. / 16, 10. / 16},
           {{{1, 2, 2, 1}, 2},
            {{0, 0, 0, 1}, 1},
            {{-1, 0, 0, 1}, 1},
            {{1, 1, 1, 1}, 2},
            {{1, 9, NAN, 2}, 2},
            {{inf, 9, 1, 2}, 1}}},
          {"cholesky",  // The solution is that of L L^H.
           [](Value a, Value b) { return cholesky_solve(cholesky(a), b); },
           {4, NAN, 2, 5},  // The upper triangle is not read.
           {7. / 16, 10. / 16},
           {{{1, 2, 2, 1}, 2}, {{NAN, 0, 0, 1}, 1}}},
          {"lu_solve",
           [](Value a, Value b) { return lu_solve({a, rows_of(a, {1, 0})}, b); },
           {4, 6, 0.25, 0.5},
           {-5, 4},
           {{{4, 6, 0.25, 0}, 2}, {{0, 6, 0.25, 1}, 1}, {{4, NAN, 0.25, 1}, 1}, {{4, 6, NAN, 1}, 2}}},
          {"cholesky_solve",
           [](Value a, Value b) { return cholesky_solve(a, b); },
           {2, 0, 1, 2},
           {7. / 16, 10. / 16},
           {{{2, 0, 1, 0}, 2}, {{2, 0, NAN, 2}, 2}}},
          {"triangular_solve",
           triangular({}),
           {3, NAN, 2, 1},
           {1, 2},
           {{{0, 0, 2, 1}, 1}, {{3, 0, 2, 0}, 2}, {{3, 0, NAN, 1}, 2}, {{inf, 0, 0, 1}, 1}}},
          {"triangular_solve upper, transposed",
           triangular({.lower = false, .mode = Transpose::transpose}),
           {3, 2, NAN, 1},
           {1, 2},
           {{{3, 0, 2, 0}, 2}, {{3, NAN, 0, 1}, 1}}},
          {"triangular_solve with a unit diagonal",
           triangular({.unit_diagonal = true}),
           {0, NAN, -2, NAN},
           {3, 10},
           {{{1, 0, -inf, 1}, 2}}}};
}

HostTensor host_numbers(DType t, std::vector<std::int64_t> shape, const Complexes& v) {
  HostTensor h(t, std::move(shape));
  for (std::size_t i = 0; i < v.size(); ++i) h.set_c128(static_cast<std::int64_t>(i), v[i]);
  return h;
}

// `members` 0: no batch.
runtime::Executable compiled(const std::shared_ptr<runtime::Device>& device, Preference policy, const Case& c, DType t,
                             std::int64_t members) {
  Graph g(c.name);
  Builder b(g, linalg_catalog().operators);
  const Value a = b.input(tensor(t, members ? Shape{members, 2, 2} : Shape{2, 2}), "a");
  b.output(c.build(a, b.input(tensor(t, members ? Shape{members, 2} : Shape{2}), "b")), "x");
  CompileOptions options;
  options.preference = policy;
  return {device, g, linalg_catalog(), options};
}

/// The operator that is named is one of the program as it was written, whatever it was decomposed into.
void expect_refused(const runtime::Executable& program, const std::function<void()>& run, std::int64_t info) {
  try {
    run();
    ADD_FAILURE() << "nothing is refused";
  } catch (const NumericalError& e) {
    EXPECT_EQ(e.info(), info) << e.what();
    const std::vector<ReportRow>& rows = program.report().rows;
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const ReportRow& r) { return r.op == e.op(); })) << e.what();
    EXPECT_EQ(std::string(e.what()).find(e.op() + ": "), 0u) << e.what();
    EXPECT_EQ(std::string(e.what()).find("linalg.", 1), std::string::npos) << e.what();
  }
}

void expect_solution(const HostValue& found, const Complexes& x, std::size_t first) {
  for (std::size_t i = 0; i < x.size(); ++i)  // Of conditions below 20: thousands of roundings of f32.
    EXPECT_LE(std::abs(std::get<HostTensor>(found).get_c128(static_cast<std::int64_t>(first + i)) - x[i]), 1e-4) << i;
}

void check(const std::shared_ptr<runtime::Device>& device, Preference policy, DType t) {
  const Complexes right{3, 4};
  for (const Case& c : cases()) {
    SCOPED_TRACE(device->target().device + " " + c.name + " " + std::string(name(t)) +
                 (policy == Preference::force_common ? " common" : ""));
    const runtime::Executable one = compiled(device, policy, c, t, 0), many = compiled(device, policy, c, t, 3);
    const auto run = [&](const Complexes& a) {
      return one.run(HostValues{host_numbers(t, {2, 2}, a), host_numbers(t, {2}, right)})[0];
    };
    const auto batch = [&](const Complexes& second) {
      Complexes a = c.sound, b = right;
      for (const Complexes* m : {&second, &c.sound}) a.insert(a.end(), m->begin(), m->end());
      for (int i = 0; i < 2; ++i) b.insert(b.end(), right.begin(), right.end());
      return many.run(HostValues{host_numbers(t, {3, 2, 2}, a), host_numbers(t, {3, 2}, b)})[0];
    };
    expect_solution(run(c.sound), c.x, 0);
    expect_solution(batch(c.sound), c.x, 2);
    for (const Case::Wrong& w : c.wrong) {
      SCOPED_TRACE("wrong case " + std::to_string(&w - c.wrong.data()));
      expect_refused(one, [&] { run(w.a); }, w.info);
      expect_refused(many, [&] { batch(w.a); }, w.info);
    }
    expect_solution(run(c.sound), c.x, 0);  // A refusal is not the next call's.
    const HostValue x = one.run(HostValues{host_numbers(t, {2, 2}, c.sound), host_numbers(t, {2}, {NAN, NAN})})[0];
    EXPECT_TRUE(std::isnan(std::get<HostTensor>(x).get_f64(0)));
  }
}

TEST(DenseSolve, RefusesASingularOrInfiniteMatrixByEveryPath) {
  for (const runtime::BackendEntry* backend : runtime::backends()) {
    if (!backend->availability().available) continue;
    const auto device = runtime::open_device(backend->name);
    if (!device->computes()) continue;
    check(device, Preference::native, DType::f64);
    if (backend->name != "cpu") continue;  // Elsewhere no record is native.
    check(device, Preference::force_common, DType::f64);
    check(device, Preference::native, DType::c64);
    check(device, Preference::force_common, DType::c64);
  }
}

}  // namespace
}  // namespace rlx::linalg::testing

// Every scalar operator on complex numbers, on the oneapi device, against std::complex in wider precision.
#include "oneapi_scalars.hpp"

#include <cmath>
#include <complex>
#include <random>

namespace rlx {
namespace {

using test::comparisons;
using test::ScalarCase;
using test::ScalarRun;
using OneapiComplex = test::OneapiTest;

using WideComplex = std::complex<long double>;
WideComplex complex_reference(const std::string& f, WideComplex x, WideComplex y, WideComplex z) {
  if (f == "neg") return -x;
  if (f == "conj") return std::conj(x);
  if (f == "sign") return x == WideComplex{} ? x : x / std::abs(x);
  if (f == "exp") return std::exp(x);
  if (f == "log") return std::log(x);
  if (f == "expm1")
    return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * std::pow(std::sin(x.imag() / 2), 2),
            std::exp(x.real()) * std::sin(x.imag())};
  if (f == "log1p") return std::log(WideComplex{1} + x);
  if (f == "sqrt") return std::sqrt(x);
  if (f == "rsqrt") return WideComplex{1} / std::sqrt(x);
  if (f == "sin") return std::sin(x);
  if (f == "cos") return std::cos(x);
  if (f == "tan") return std::tan(x);
  if (f == "sinh") return std::sinh(x);
  if (f == "cosh") return std::cosh(x);
  if (f == "tanh") return std::tanh(x);
  if (f == "add") return x + y;
  if (f == "sub") return x - y;
  if (f == "mul") return x * y;
  if (f == "div") return x / y;
  if (f == "pow") return std::pow(x, y);
  if (f == "fma") return x * y + z;
  ADD_FAILURE() << "no reference for " << f;
  return {};
}

TEST_F(OneapiComplex, ScalarOperators) {
  std::vector<ScalarCase> cases;
  for (const char* op : {"neg", "conj", "sign", "exp", "log", "expm1", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan",
                         "sinh", "cosh", "tanh"})
    cases.push_back({op});
  for (const char* op : {"add", "sub", "mul", "div", "pow"}) cases.push_back({op, 2});
  cases.push_back({"fma", 3});
  for (DType t : {DType::c64, DType::c128}) {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> u(-2, 2);
    constexpr std::int64_t n = 400;
    ScalarRun r;
    for (int k = 0; k < 3; ++k) {
      r.operands.push_back(HostTensor(t, {n}));
      for (std::int64_t i = 0; i < n; ++i)
        r.operands.back().set_c128(i, i < 4 ? std::complex<double>(i % 2 ? -1.5 : 2, i < 2 ? 0.5 : 0.0)
                                            : std::complex<double>(u(random), u(random)));
    }
    r.operands[0].set_c128(4, {3e30, -2e30});  // its square overflows in f32
    r.operands[1].set_c128(4, {3e30, 2e30});
    r.operands[2].set_c128(4, {0, 0});
    const Graph g = r.graph(cases, {{"is_nan"}, {"is_finite"}, comparisons[0], comparisons[1]}, t);
    run(g, r.buffers());
    r.take();
    const double epsilon = t == DType::c64 ? 1.2e-7 : 2.3e-16;
    for (std::size_t k = 0; k < cases.size(); ++k)
      for (std::int64_t i = 0; i < n; ++i) {
        if (i == 4 && cases[k].op != "div" && cases[k].op != "sqrt" && cases[k].op != "log") continue;
        const auto at = [&](int o) { return WideComplex(r.operands[o].get_c128(i)); };
        const WideComplex want = complex_reference(cases[k].op, at(0), at(1), at(2));
        const WideComplex got(r.values.get_c128(static_cast<std::int64_t>(k) * n + i));
        ASSERT_LE(std::abs(got - want), (cases[k].op == "pow" ? 40 : 8) * epsilon * std::abs(want))
            << name(t) << " " << cases[k].op << at(0) << at(1) << " = " << got << ", not " << want;
      }
    for (std::int64_t i = 0; i < n; ++i) {
      EXPECT_EQ(r.predicates.get_i64(i), 0);
      EXPECT_EQ(r.predicates.get_i64(n + i), 1);
      EXPECT_EQ(r.predicates.get_i64(2 * n + i), r.operands[0].get_c128(i) == r.operands[1].get_c128(i));
      EXPECT_EQ(r.predicates.get_i64(3 * n + i), r.operands[0].get_c128(i) != r.operands[1].get_c128(i));
    }
  }
}

}  // namespace
}  // namespace rlx

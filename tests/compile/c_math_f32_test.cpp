// Functions that a language lacks: those of common text, in f32 alone, against the C library in double precision.
#include "c_device.hpp"
#include "scalar_ops.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <random>

namespace rlx {
namespace {

using test::Body;

// C as if it had neither doubles nor a mathematical library.
constexpr emit_source::NativeType single_types[] = {{DType::f32, "float", "f"},
                                                    {DType::i32, "int"},
                                                    {DType::i64, "long long", "ll"},
                                                    {DType::u32, "unsigned", "u"},
                                                    {DType::u64, "unsigned long long", "ull"},
                                                    {DType::boolean, "bool"}};
emit_source::Dialect single_c() {
  emit_source::Dialect d = test::c99::dialect;
  d.types = single_types;
  d.lacks =
      "exp log expm1 log1p cbrt sin cos tan asin acos atan atan2 sinh cosh tanh erf erfc pow fmod rint copysign ldexp";
  d.hex_floats = false;
  return d;
}

struct Function {
  const char* op;
  double (*exact)(double, double);
  double ulps;  // Largest error on the arguments below, in units of the last place of the exact result.
};
double erfinv_by_halving(double x) {
  if (std::isnan(x) || std::fabs(x) >= 1) return std::fabs(x) == 1 ? x * INFINITY : NAN;
  if (std::fabs(x) < 1e-4) return x * 0.88622692545275801 * (1 + 0.26179938779914944 * x * x);  // x^4 / 2 below 1e-16
  double low = 0, high = 8;
  for (int k = 0; k < 60; ++k) {
    const double y = (low + high) / 2;
    (std::fabs(x) < 0.5 ? std::erf(y) < std::fabs(x) : std::erfc(y) > 1 - std::fabs(x)) ? low = y : high = y;
  }
  return std::copysign(high, x);
}
#define RLX_EXACT(f) [](double x, double) { return std::f(x); }
const Function functions[] = {{"exp", RLX_EXACT(exp), 2},
                              {"log", RLX_EXACT(log), 2},
                              {"expm1", RLX_EXACT(expm1), 2},
                              {"log1p", RLX_EXACT(log1p), 2},
                              {"cbrt", RLX_EXACT(cbrt), 2},
                              {"sin", RLX_EXACT(sin), 3},
                              {"cos", RLX_EXACT(cos), 3},
                              {"tan", RLX_EXACT(tan), 4},
                              {"asin", RLX_EXACT(asin), 2},
                              {"acos", RLX_EXACT(acos), 2},
                              {"atan", RLX_EXACT(atan), 2},
                              {"sinh", RLX_EXACT(sinh), 3},
                              {"cosh", RLX_EXACT(cosh), 2},
                              {"tanh", RLX_EXACT(tanh), 2},
                              {"erf", RLX_EXACT(erf), 2},
                              {"erfc", RLX_EXACT(erfc), 4},
                              {"erfinv", [](double x, double) { return erfinv_by_halving(x); }, 4},
                              {"pow", [](double x, double y) { return std::pow(x, y); }, 4},
                              {"atan2", [](double y, double x) { return std::atan2(y, x); }, 2},
                              {"rem", [](double x, double y) { return std::fmod(x, y); }, 0}};
#undef RLX_EXACT

double last_place(double v) {
  return std::ldexp(1.0, (v == 0 || !std::isfinite(v) ? -126 : std::max(std::ilogb(v), -126)) - 23);
}

TEST(CMathF32, IsAccurate) {
  if (std::system("cc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no C compiler named cc";
  // Every 2^16th float, zeros and infinities and NaNs among them; numbers up to 16; those up to 1.
  std::vector<float> xs, ys;
  std::mt19937 random(1);
  for (std::uint32_t k = 0; k < 1u << 16; ++k)
    xs.push_back(std::bit_cast<float>(k << 16 | (k % 2 ? k * 40503u & 0xffffu : 0u)));
  for (int k = 0; k < 1 << 15; ++k) xs.push_back(std::uniform_real_distribution<float>(-16, 16)(random));
  for (int k = 0; k < 1 << 15; ++k) xs.push_back(std::uniform_real_distribution<float>(-1, 1)(random));
  ys = xs;
  std::shuffle(ys.begin(), ys.begin() + (1 << 16), random);
  std::shuffle(ys.begin() + (1 << 16), ys.end(), random);
  const auto n = static_cast<std::int64_t>(xs.size());

  Graph g;
  Builder b(g, test::scalar_registry());
  const Value x = b.input(test::device_buffer(DType::f32, n), "x"),
              y = b.input(test::device_buffer(DType::f32, n), "y"),
              z = b.input(test::device_buffer(DType::f32, n), "z");
  for (const Function& f : functions)
    test::kernel(b, {.name = f.op, .extents = {n}}, {x, y, z}, [&](const Body& w, ValuesIn i, ValuesIn p) {
      const Value u = w.load(p[0], i[0]), v = w.load(p[1], i[0]);
      const bool two =
          std::string_view(f.op) == "pow" || std::string_view(f.op) == "atan2" || std::string_view(f.op) == "rem";
      w.store(p[2], i[0], two ? b.emit1(f.op, {u, v}) : b.emit1(f.op, {u}));
    });
  const emit_source::Dialect dialect = single_c();
  const test::CModule module(g, dialect);
  std::vector<float> zs(xs.size());
  const runtime::Allocation memory[] = {{xs.data(), 4 * n}, {ys.data(), 4 * n}, {zs.data(), 4 * n}};
  const runtime::KernelBuffer buffers[] = {{&memory[0], 0}, {&memory[1], 0}, {&memory[2], 0}};
  for (std::size_t k = 0; k < std::size(functions); ++k) {
    const Function& f = functions[k];
    module.launch(k, buffers, nullptr);
    double worst = 0, at = 0, at_y = 0;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < xs.size(); ++i) {
      const double want = f.exact(xs[i], ys[i]);
      const auto rounded = static_cast<float>(want);
      if (std::isnan(want) || std::isinf(rounded) || std::isinf(zs[i]) || want == 0) {
        // Next to where results overflow either side may be right.
        const bool edge = std::fabs(want) > 3.4028e38 && std::fabs(want) < 3.4029e38;
        const bool same =
            std::isnan(want) ? std::isnan(zs[i]) : zs[i] == rounded && std::signbit(zs[i]) == std::signbit(want);
        if (!same && !edge && wrong++ < 3)
          ADD_FAILURE() << f.op << "(" << xs[i] << ", " << ys[i] << ") = " << zs[i] << ", not " << want;
        continue;
      }
      const double error = std::fabs(zs[i] - want) / last_place(want);
      if (!(error <= worst)) worst = error, at = xs[i], at_y = ys[i];
    }
    // Half a unit is the rounding of the result itself.
    EXPECT_LE(worst, f.ulps) << f.op << " at " << at << ", " << at_y;
    RecordProperty(std::string(f.op) + "_ulps", std::to_string(worst));
  }
}

}  // namespace
}  // namespace rlx

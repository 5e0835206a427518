// The small floats against an independent reading of their definitions, and f16 against the processor's conversions.
#include <rlx/ir/error.hpp>
#include <rlx/ir/host_tensor.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>

#include "special_values.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rlx {
namespace {

std::uint32_t bits_of(DType t, double v) {
  return t == DType::f16 ? f16_bits(v) : t == DType::bf16 ? bf16_bits(v) : f8_bits(t, v);
}
double value_of(DType t, std::uint32_t bits) {
  const auto narrow = static_cast<std::uint16_t>(bits);
  return t == DType::f16    ? f16_value(narrow)
         : t == DType::bf16 ? bf16_value(narrow)
                            : f8_value(t, static_cast<std::uint8_t>(bits));
}

struct Case {
  DType type;
  std::uint32_t max_finite;
  double max_value, least_normal, least;
  std::uint32_t one, overflow, nan;
};

// Published limits: IEEE 754, the bfloat16 and OCP 8-bit tables, and the fnuz tables of the LLVM documentation.
const Case cases[] = {
    {DType::f16, 0x7BFF, 65504, std::ldexp(1, -14), std::ldexp(1, -24), 0x3C00, 0x7C00, 0x7E00},
    {DType::bf16, 0x7F7F, 0x1.fep127, std::ldexp(1, -126), std::ldexp(1, -133), 0x3F80, 0x7F80, 0x7FC0},
    {DType::f8e4m3fn, 0x7E, 448, std::ldexp(1, -6), std::ldexp(1, -9), 0x38, 0x7F, 0x7F},
    {DType::f8e5m2, 0x7B, 57344, std::ldexp(1, -14), std::ldexp(1, -16), 0x3C, 0x7C, 0x7E},
    {DType::f8e4m3fnuz, 0x7F, 240, std::ldexp(1, -7), std::ldexp(1, -10), 0x40, 0x80, 0x80},
    {DType::f8e5m2fnuz, 0x7F, 57344, std::ldexp(1, -15), std::ldexp(1, -17), 0x40, 0x80, 0x80},
};

class SmallFloat : public testing::TestWithParam<Case> {
 protected:
  DType type() const { return GetParam().type; }
  std::uint32_t sign() const { return 1u << (bit_width(type()) - 1); }
  bool fnuz() const { return type() == DType::f8e4m3fnuz || type() == DType::f8e5m2fnuz; }
};

TEST_P(SmallFloat, PublishedValues) {
  const Case& c = GetParam();
  EXPECT_EQ(value_of(c.type, c.max_finite), c.max_value);
  EXPECT_EQ(value_of(c.type, 1), c.least);
  EXPECT_EQ(value_of(c.type, c.one), 1.0);
  EXPECT_EQ(bits_of(c.type, c.max_value), c.max_finite);
  EXPECT_EQ(bits_of(c.type, c.least_normal), static_cast<std::uint32_t>(c.least_normal / c.least));
  EXPECT_EQ(bits_of(c.type, 1.0), c.one);
  EXPECT_EQ(bits_of(c.type, -1.0), c.one | sign());
}

TEST_P(SmallFloat, EveryCodeRoundTrips) {
  for (std::uint32_t code = 0; code < 2 * sign(); ++code) {
    const double v = value_of(type(), code);
    if (std::isnan(v)) EXPECT_TRUE(std::isnan(value_of(type(), bits_of(type(), v)))) << code;
    else EXPECT_EQ(bits_of(type(), v), code);
  }
}

TEST_P(SmallFloat, RoundsToNearestWithTiesToEven) {
  for (std::uint32_t code = 0; code < GetParam().max_finite; ++code) {
    const double low = value_of(type(), code), high = value_of(type(), code + 1);
    ASSERT_LT(low, high);
    const double middle = low + (high - low) / 2;
    const std::uint32_t even = code + (code & 1);
    EXPECT_EQ(bits_of(type(), middle), even) << code;
    EXPECT_EQ(bits_of(type(), std::nextafter(middle, 0)), code);
    EXPECT_EQ(bits_of(type(), std::nextafter(middle, inf)), code + 1);
    EXPECT_EQ(bits_of(type(), -middle), even == 0 && fnuz() ? 0 : even | sign()) << code;
  }
}

TEST_P(SmallFloat, OverflowsPastTheLastMidpoint) {
  const Case& c = GetParam();
  const double limit = c.max_value + (c.max_value - value_of(c.type, c.max_finite - 1)) / 2;
  EXPECT_EQ(bits_of(c.type, std::nextafter(limit, 0)), c.max_finite);
  // A tie goes to the even code: the next one, but for e4m3fn, whose largest code is even.
  EXPECT_EQ(bits_of(c.type, limit), c.max_finite % 2 ? c.overflow : c.max_finite);
  for (double v : {std::nextafter(limit, inf), 1e300, std::numeric_limits<double>::max(), inf}) {
    EXPECT_EQ(bits_of(c.type, v), c.overflow) << v;
    EXPECT_EQ(bits_of(c.type, -v), c.overflow | sign()) << v;
  }
}

TEST_P(SmallFloat, ZerosNansAndUnderflow) {
  const Case& c = GetParam();
  EXPECT_EQ(bits_of(c.type, 0.0), 0u);
  EXPECT_EQ(bits_of(c.type, -0.0), fnuz() ? 0 : sign());
  EXPECT_EQ(bits_of(c.type, std::numeric_limits<double>::denorm_min()), 0u);
  EXPECT_EQ(bits_of(c.type, nan_value), c.nan);
  EXPECT_TRUE(std::isnan(value_of(c.type, bits_of(c.type, -nan_value))));
  EXPECT_EQ(std::isinf(value_of(c.type, bits_of(c.type, inf))), c.overflow != c.nan);
  EXPECT_EQ(round_to(c.type, 1 + 1e-9), 1.0);
}

INSTANTIATE_TEST_SUITE_P(All, SmallFloat, testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(name(info.param.type)); });

TEST(SmallFloatValues, ExactlyOneNanCodeInFnuzAndTwoInE4m3fn) {
  for (auto [type, count] :
       {std::pair{DType::f8e4m3fnuz, 1}, {DType::f8e5m2fnuz, 1}, {DType::f8e4m3fn, 2}, {DType::f8e5m2, 6}}) {
    int nans = 0;
    for (int code = 0; code < 256; ++code) nans += std::isnan(f8_value(type, static_cast<std::uint8_t>(code)));
    EXPECT_EQ(nans, count) << name(type);
  }
}

TEST(SmallFloatValues, DoesNotRoundTwice) {
  // By way of f32 both would first round to the tie and then go to the even neighbour.
  EXPECT_EQ(f16_bits(1 + std::ldexp(1, -11) + std::ldexp(1, -40)), 0x3C01);
  EXPECT_EQ(bf16_bits(1 + std::ldexp(1, -8) + std::ldexp(1, -40)), 0x3F81);
}

TEST(SmallFloatValues, RefusesOtherTypes) {
  EXPECT_THROW(f8_bits(DType::f32, 1), ArgumentError);
  EXPECT_THROW(f8_value(DType::i8, 1), ArgumentError);
}

TEST(SmallFloatValues, RoundToIntegersTruncatesAndSaturates) {
  EXPECT_EQ(round_to(DType::i8, -3.9), -3);
  EXPECT_EQ(round_to(DType::i8, 1000), 127);
  EXPECT_EQ(round_to(DType::i4, -1000), -8);
  EXPECT_EQ(round_to(DType::u8, -1), 0);
  EXPECT_EQ(round_to(DType::i32, nan_value), 0);
  EXPECT_EQ(round_to(DType::i64, 1e30), 0x1p63);
  EXPECT_FALSE(std::signbit(round_to(DType::i32, -0.5)));
  EXPECT_EQ(round_to(DType::boolean, -0.5), 1);
  EXPECT_EQ(round_to(DType::f32, 0.1), static_cast<double>(0.1f));
  EXPECT_EQ(round_to(DType::f64, 0.1), 0.1);
}

#if defined(__x86_64__)
__attribute__((target("f16c"))) float hardware_value(std::uint16_t bits) {
  return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(bits)));
}
__attribute__((target("f16c"))) std::uint16_t hardware_bits(float v) {
  return static_cast<std::uint16_t>(_mm_extract_epi16(_mm_cvtps_ph(_mm_set_ss(v), _MM_FROUND_TO_NEAREST_INT), 0));
}

TEST(SmallFloatValues, F16AgreesWithTheProcessor) {
  if (!__builtin_cpu_supports("f16c")) GTEST_SKIP() << "the processor has no F16C instructions";
  for (std::uint32_t code = 0; code < 65536; ++code) {
    const auto bits = static_cast<std::uint16_t>(code);
    const double ours = f16_value(bits);
    if (std::isnan(ours)) EXPECT_TRUE(std::isnan(hardware_value(bits))) << code;
    else EXPECT_EQ(ours, static_cast<double>(hardware_value(bits))) << code;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i) {
    // Every sign and mantissa, exponents around the range of f16.
    const std::uint32_t raw = (random() & 0x807FFFFFu) | ((100 + random() % 46) << 23);
    float v;
    std::memcpy(&v, &raw, sizeof v);
    EXPECT_EQ(f16_bits(v), hardware_bits(v)) << v;
  }
}
#endif

}  // namespace
}  // namespace rlx

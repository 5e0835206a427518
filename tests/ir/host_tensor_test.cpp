#include <rlx/ir/error.hpp>
#include <rlx/ir/host_tensor.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "special_values.hpp"

namespace rlx {
namespace {

using Dims = std::vector<std::int64_t>;

TEST(HostTensor, IsZeroFilledAndAligned) {
  for (int i = 0; i < dtype_count; ++i) {
    const auto t = static_cast<DType>(i);
    const HostTensor x(t, {3, 5});
    EXPECT_EQ(x.numel(), 15);
    EXPECT_EQ(x.rank(), 2);
    EXPECT_EQ(x.bytes(), byte_size(t, 15));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.data()) % 64, 0u);
    for (std::int64_t k = 0; k < x.bytes(); ++k) ASSERT_EQ(x.data()[k], std::byte{0});
    EXPECT_EQ(x.get_f64(14), 0);
  }
}

// From 4 MiB on they are mapped: fresh pages each, of which the first and the last element are theirs.
TEST(HostTensor, LargeOnesAreZeroFilledAlignedAndApart) {
  constexpr std::int64_t n = (5 << 20) + 3;
  for (int turn = 0; turn < 2; ++turn) {  // the second time memory comes back that was written
    std::vector<HostTensor> tensors;
    for (int i = 0; i < 3; ++i) {
      HostTensor& x = tensors.emplace_back(DType::u8, Dims{n});
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.data()) % 64, 0u);
      ASSERT_TRUE(std::all_of(x.data(), x.data() + n, [](std::byte b) { return b == std::byte{0}; }));
      std::ranges::fill(x.as_mutable<std::uint8_t>(), static_cast<std::uint8_t>(i + 1));
    }
    for (int i = 0; i < 3; ++i)
      for (const std::int64_t k : {std::int64_t{0}, n / 2, n - 1}) EXPECT_EQ(tensors[i].get_i64(k), i + 1);
  }
}

TEST(HostTensor, DefaultAndEmptyTensors) {
  EXPECT_EQ(HostTensor().numel(), 0);
  EXPECT_EQ(HostTensor().bytes(), 0);
  HostTensor empty(DType::f64, {4, 0, 1});
  EXPECT_EQ(empty.numel(), 0);
  EXPECT_TRUE(empty.as<double>().empty());
  EXPECT_TRUE(empty.as_mutable<double>().empty());
  EXPECT_TRUE(empty.identical(HostTensor(DType::f64, {4, 0, 1})));
  EXPECT_FALSE(empty.identical(HostTensor(DType::f64, {0})));
  EXPECT_EQ(HostTensor(DType::f32, {}).numel(), 1);
}

TEST(HostTensor, ImpossibleSizes) {
  EXPECT_THROW(HostTensor(DType::f32, {2, -1}), ArgumentError);
  EXPECT_THROW(HostTensor(DType::f32, {0, -1}), ArgumentError);
  EXPECT_THROW(HostTensor(DType::u8, {std::int64_t{1} << 32, std::int64_t{1} << 32}), MemoryError);
  EXPECT_THROW(HostTensor(DType::f64, {std::int64_t{1} << 61}), MemoryError);  // elements fit 64 bits, bytes do not
  EXPECT_THROW(HostTensor(DType::u8, {std::int64_t{1} << 55}), MemoryError);
  EXPECT_EQ(HostTensor(DType::f64, {std::int64_t{1} << 40, std::int64_t{1} << 40, 0}).numel(), 0);
  try {
    HostTensor(DType::f64, {std::int64_t{1} << 50});
    FAIL();
  } catch (const MemoryError& e) {
    EXPECT_EQ(e.wanted_bytes(), std::uint64_t{1} << 53);
    EXPECT_NE(std::string(e.what()).find("f64[1125899906842624]"), std::string::npos) << e.what();
  }
}

TEST(HostTensor, CopiesShareUntilWritten) {
  HostTensor a = HostTensor::from(DType::f32, {2}, std::vector<double>{1, 2});
  HostTensor b = a;
  EXPECT_EQ(a.data(), b.data());
  b.set_f64(0, 7);
  EXPECT_NE(a.data(), b.data());
  EXPECT_EQ(a.get_f64(0), 1);
  EXPECT_EQ(b.get_f64(0), 7);
  EXPECT_EQ(b.get_f64(1), 2);
  const std::byte* own = b.data();
  b.as_mutable<float>()[1] = 3;
  EXPECT_EQ(b.data(), own);  // alone: no further copy
}

TEST(HostTensor, MovedFromIsEmpty) {
  HostTensor a(DType::f64, {3});
  const HostTensor b = std::move(a);
  EXPECT_EQ(b.numel(), 3);
  EXPECT_EQ(a.numel(), 0);  // NOLINT: the point of the test
  EXPECT_EQ(a.data(), nullptr);
  EXPECT_THROW(a.get_f64(0), ArgumentError);
}

TEST(HostTensor, ViewsKeepTheOwnerAndAreNeverWritten) {
  auto memory = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3});
  const std::weak_ptr<std::vector<float>> watch = memory;
  const float* data = memory->data();
  HostTensor view = HostTensor::view(DType::f32, {3}, data, std::move(memory));
  EXPECT_EQ(reinterpret_cast<const float*>(view.data()), data);
  ASSERT_FALSE(watch.expired());
  view.set_f64(1, 9);
  EXPECT_TRUE(watch.expired());  // the copy was made, the original let go
  EXPECT_EQ(view.get_f64(1), 9);
  EXPECT_EQ(view.get_f64(2), 3);

  const float constant[2] = {4, 5};
  HostTensor unowned = HostTensor::view(DType::f32, {2}, constant, nullptr);
  unowned.set_f64(0, 0);
  EXPECT_EQ(constant[0], 4);
  EXPECT_THROW(HostTensor::view(DType::f32, {2}, nullptr, nullptr), ArgumentError);
}

TEST(HostTensor, MisalignedViewsAreCopied) {
  alignas(8) unsigned char bytes[17] = {};
  const double values[2] = {1.5, -2};
  std::memcpy(bytes + 1, values, 16);
  const HostTensor t = HostTensor::view(DType::f64, {2}, bytes + 1, nullptr);
  EXPECT_EQ(t.as<double>()[0], 1.5);
  EXPECT_EQ(t.as<double>()[1], -2);
}

TEST(HostTensor, PacksI4LowNibbleFirst) {
  HostTensor t = HostTensor::from(DType::i4, {3}, std::vector<double>{1, -2, 7});
  EXPECT_EQ(t.bytes(), 2);
  EXPECT_EQ(t.data()[0], std::byte{0xE1});
  EXPECT_EQ(t.data()[1], std::byte{0x07});
  t.set_i64(0, 8);  // wraps
  EXPECT_EQ(t.get_i64(0), -8);
  EXPECT_EQ(t.get_i64(1), -2);
  t.set_f64(1, 100);  // saturates
  EXPECT_EQ(t.get_f64(1), 7);

  // What lies behind the last element does not count.
  const unsigned char a[2] = {0x21, 0x03}, b[2] = {0x21, 0xF3};
  const HostTensor x = HostTensor::view(DType::i4, {3}, a, nullptr), y = HostTensor::view(DType::i4, {3}, b, nullptr);
  EXPECT_TRUE(x.identical(y));
  EXPECT_EQ(x.content_hash(), y.content_hash());
}

struct Conversion {
  DType type;
  double from;
  double to;
};

TEST(HostTensor, StoresDoubles) {
  const Conversion table[] = {{DType::i8, -3.9, -3},
                              {DType::i8, 128, 127},
                              {DType::i8, -1e9, -128},
                              {DType::i16, 1e9, 32767},
                              {DType::i32, 1e10, 2147483647},
                              {DType::i32, nan_value, 0},
                              {DType::u8, -5, 0},
                              {DType::u8, 255.9, 255},
                              {DType::u8, 256, 255},
                              {DType::u32, 4294967295.0, 4294967295.0},
                              {DType::u64, -1, 0},
                              {DType::u64, inf, 0x1p64},
                              {DType::i64, -inf, -0x1p63},
                              {DType::i64, inf, 0x1p63},
                              {DType::i64, nan_value, 0},
                              {DType::boolean, 0.25, 1},
                              {DType::boolean, -0.0, 0},
                              {DType::f16, 65520, inf},
                              {DType::f16, 2049, 2048},
                              {DType::bf16, 257, 256},
                              {DType::f32, 16777217, 16777216},
                              {DType::f32, 1e300, inf},
                              {DType::f8e4m3fn, 450, 448},
                              {DType::f8e5m2, 1e6, inf},
                              {DType::c64, 2.5, 2.5},
                              {DType::c128, 0.1, 0.1}};
  for (const auto& [type, from, to] : table)
    EXPECT_EQ(HostTensor::scalar(type, from).get_f64(0), to) << name(type) << " " << from;
  EXPECT_TRUE(std::isnan(HostTensor::scalar(DType::f8e4m3fn, 1e6).get_f64(0)));
}

TEST(HostTensor, IntegersAreExactAndWrap) {
  const std::int64_t big = INT64_MAX - 1;
  EXPECT_EQ(HostTensor::scalar_i64(DType::i64, big).get_i64(0), big);
  EXPECT_EQ(HostTensor::scalar_i64(DType::i64, INT64_MIN).get_i64(0), INT64_MIN);
  EXPECT_EQ(HostTensor::scalar_i64(DType::i8, 300).get_i64(0), 44);
  EXPECT_EQ(HostTensor::scalar_i64(DType::u8, -1).get_i64(0), 255);
  EXPECT_EQ(HostTensor::scalar_i64(DType::u64, -1).get_u64(0), UINT64_MAX);
  EXPECT_EQ(HostTensor::scalar_i64(DType::u64, -1).get_i64(0), INT64_MAX);  // the nearest
  EXPECT_EQ(HostTensor::scalar_i64(DType::i32, -7).get_u64(0), 0u);
  EXPECT_EQ(HostTensor::scalar_i64(DType::boolean, 256).get_i64(0), 1);
  HostTensor t(DType::i32, {1});
  t.set_u64(0, 0xFFFFFFFFFFu);
  EXPECT_EQ(t.get_i64(0), -1);
  EXPECT_EQ(HostTensor::scalar(DType::f64, -1e30).get_i64(0), INT64_MIN);
  EXPECT_EQ(HostTensor::scalar(DType::f64, 1e30).get_u64(0), UINT64_MAX);
  EXPECT_EQ(HostTensor::scalar(DType::f32, nan_value).get_i64(0), 0);
  EXPECT_EQ(HostTensor::scalar(DType::f32, -2.9).get_i64(0), -2);
}

TEST(HostTensor, IntegersRoundOnceToFloats) {
  // Just above the tie between two neighbours; by way of double they would first become the tie.
  const std::int64_t f32_case = (std::int64_t{1} << 61) + (std::int64_t{1} << 37) + 1;
  EXPECT_EQ(HostTensor::scalar_i64(DType::f32, f32_case).get_f64(0), 0x1p61 + 0x1p38);
  EXPECT_EQ(HostTensor::scalar_i64(DType::c64, -f32_case).get_f64(0), -(0x1p61 + 0x1p38));
  const std::int64_t bf16_case = (std::int64_t{1} << 61) + (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(HostTensor::scalar_i64(DType::bf16, bf16_case).get_f64(0), 0x1p61 + 0x1p54);
  EXPECT_EQ(HostTensor::scalar_i64(DType::bf16, -bf16_case).get_f64(0), -(0x1p61 + 0x1p54));
  EXPECT_EQ(HostTensor::scalar_i64(DType::bf16, bf16_case - 1).get_f64(0), 0x1p61);  // the tie itself: even
  HostTensor t(DType::bf16, {1});
  t.set_u64(0, UINT64_MAX);
  EXPECT_EQ(t.get_f64(0), 0x1p64);
  EXPECT_EQ(HostTensor::scalar_i64(DType::bf16, INT64_MIN).get_f64(0), -0x1p63);
}

TEST(HostTensor, ComplexElements) {
  HostTensor t(DType::c64, {2});
  t.set_c128(1, {1.5, -2});
  EXPECT_EQ(t.get_c128(1), std::complex<double>(1.5, -2));
  EXPECT_EQ(t.get_f64(1), 1.5);
  EXPECT_EQ(t.get_i64(1), 1);
  EXPECT_EQ(t.as<std::complex<float>>()[1], std::complex<float>(1.5f, -2));
  HostTensor real(DType::f16, {1});
  real.set_c128(0, {3, 4});
  EXPECT_EQ(real.get_c128(0), std::complex<double>(3, 0));
  HostTensor truth(DType::boolean, {1});
  truth.set_c128(0, {0, 4});
  EXPECT_EQ(truth.get_i64(0), 1);
}

TEST(HostTensor, IndicesAreChecked) {
  HostTensor t(DType::f32, {2});
  EXPECT_THROW(t.get_f64(2), ArgumentError);
  EXPECT_THROW(t.get_i64(-1), ArgumentError);
  EXPECT_THROW(t.set_f64(2, 0), ArgumentError);
  EXPECT_THROW(t.set_c128(-1, 0), ArgumentError);
  EXPECT_THROW(t.set_u64(2, 0), ArgumentError);
}

TEST(HostTensor, FromAndReshaped) {
  EXPECT_THROW(HostTensor::from(DType::f32, {2}, std::vector<double>{1}), ArgumentError);
  const HostTensor t = HostTensor::from(DType::i32, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
  const HostTensor r = t.reshaped({3, 2});
  EXPECT_EQ(r.shape(), (Dims{3, 2}));
  EXPECT_EQ(r.data(), t.data());
  EXPECT_FALSE(r.identical(t));
  EXPECT_TRUE(r.reshaped({2, 3}).identical(t));
  EXPECT_THROW(t.reshaped({4}), ArgumentError);
}

TEST(HostTensor, IdenticalIsBitwiseAndTheHashFollowsIt) {
  const HostTensor zero = HostTensor::scalar(DType::f32, 0.0), minus_zero = HostTensor::scalar(DType::f32, -0.0);
  EXPECT_FALSE(zero.identical(minus_zero));
  EXPECT_NE(zero.content_hash(), minus_zero.content_hash());
  const HostTensor a = HostTensor::scalar(DType::f32, nan_value), b = HostTensor::scalar(DType::f32, nan_value);
  EXPECT_TRUE(a.identical(b));
  EXPECT_EQ(a.content_hash(), b.content_hash());
  EXPECT_NE(HostTensor(DType::f32, {2}).content_hash(), HostTensor(DType::i32, {2}).content_hash());
  EXPECT_NE(HostTensor(DType::f32, {2}).content_hash(), HostTensor(DType::f32, {2, 1}).content_hash());
}

TEST(HostTensor, ElementCount) {
  EXPECT_EQ(element_count(Dims{}), 1);
  EXPECT_EQ(element_count(Dims{2, 3, 4}), 24);
  EXPECT_EQ(element_count(Dims{INT64_MAX, INT64_MAX, 0}), 0);
  EXPECT_THROW(element_count(Dims{INT64_MAX, 2}), MemoryError);
  EXPECT_THROW(element_count(Dims{-1, 0}), ArgumentError);
}

}  // namespace
}  // namespace rlx

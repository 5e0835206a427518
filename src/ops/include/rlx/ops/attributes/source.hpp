// Attributes of operators that make values of their own: constants, counts, sizes and what watches them, random
// numbers, matrices from their arrays.
#pragma once
#include <rlx/ir/attributes.hpp>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace rlx::ops {

struct ConstantAttrs {
  HostTensor value{};
  bool operator==(const ConstantAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"value", &ConstantAttrs::value, "the tensor"}};
};

struct IotaAttrs {
  DType dtype = DType::i32;
  std::vector<Dim> shape{};
  int axis = 0;
  bool operator==(const IotaAttrs&) const = default;
  static constexpr auto fields = std::tuple{
      Field{"dtype", &IotaAttrs::dtype, "element type"}, Field{"shape", &IotaAttrs::shape, "shape of the result"},
      Field{"axis", &IotaAttrs::axis, "dimension along which values count up from 0"}};
};

struct DimSizeAttrs {
  Dim size = 0;
  DType dtype = DType::i64;
  bool operator==(const DimSizeAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"size", &DimSizeAttrs::size, "the dimension"},
                                            Field{"dtype", &DimSizeAttrs::dtype, "type of the result"}};
};

/// nonzero and repeat, whose results are as long as comes out. `size` is a symbol by itself, which the node introduces,
/// or a number, up to which results are padded.
struct SizedAttrs {
  Dim size = 0;
  Dim bound = -1;
  DType index = DType::i32;
  bool operator==(const SizedAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"size", &SizedAttrs::size, "length of the results: a new symbol, or a number"},
                 Field{"bound", &SizedAttrs::bound, "upper bound of a size that is a symbol; -1: none given"},
                 Field{"index", &SizedAttrs::index, "i32 or i64"}};
};

struct CheckWithinAttrs {
  std::string what{}, of{};
  std::int64_t lower = 0;
  std::string expected{};
  bool operator==(const CheckWithinAttrs&) const = default;
  static constexpr auto fields = std::tuple{
      Field{"what", &CheckWithinAttrs::what, "what an error says of x"},
      Field{"of", &CheckWithinAttrs::of, "operator whose NumericalError it is; empty: an index, an ArgumentError"},
      Field{"lower", &CheckWithinAttrs::lower, "least allowed value"},
      Field{"expected", &CheckWithinAttrs::expected, "what an error says was expected of an index; empty: not known"}};
};

/// rng_bits(key u32[2], counter u64[]) -> u32[shape]: Philox 4x32-10; element i is word i mod 4 of block counter + i
/// / 4.
struct RngBitsAttrs {
  std::vector<Dim> shape{};
  bool operator==(const RngBitsAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"shape", &RngBitsAttrs::shape, "shape of the result"}};
};

/// rng_uniform and rng_normal: rng_bits turned into numbers of `dtype`.
struct RngRealAttrs {
  DType dtype = DType::f32;
  std::vector<Dim> shape{};
  bool operator==(const RngRealAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"dtype", &RngRealAttrs::dtype, "f32 (one word an element) or f64 (two)"},
                 Field{"shape", &RngRealAttrs::shape, "shape of the result"}};
};

/// sparse.assemble.
struct AssembleAttrs {
  Dim columns = 0;
  bool operator==(const AssembleAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"columns", &AssembleAttrs::columns, "columns of the matrix"}};
};

}  // namespace rlx::ops

// Quantized tensors against other implementations: every block format against gguf and ml_dtypes
// (tests/data/quantized/make_blocks.py), affine schemes against ONNX's examples; on devices, in gradients and batches.
#include "catalog.hpp"
#include "places.hpp"

#include "ops/block_formats.hpp"
#include "ops/quantized.hpp"

#include <rlx/compile/compile.hpp>
#include <rlx/formats/safetensors.hpp>
#include <rlx/ir/evaluate.hpp>
#include <rlx/ir/text.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>
#include <rlx/transform/vjp.hpp>
#include <rlx/transform/vmap.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace rlx {
namespace {

using ops::BlockFormat;

const std::map<std::string, HostTensor>& blocks() {
  static const auto& all = *new std::map<std::string, HostTensor>(
      formats::load_safetensors((places::source() / "tests" / "data" / "quantized" / "blocks.safetensors").string())
          .tensors);
  return all;
}

TensorType quantized(const HostTensor& stored, Quantization q) {
  return ops::quantized(std::get<TensorType>(type_of(stored)), std::move(q));
}
TensorType blocked(const HostTensor& stored, std::string_view format) {
  return quantized(stored, {.block_format = std::string(format)});
}

Graph dequantized(const TensorType& t, DType to = DType::f32) {
  Graph g("main");
  Builder b(g, registry());
  b.output(ops::dequantize(b.input(t, "x"), to), "y");
  return g;
}
HostTensor one(const HostValues& v) { return std::get<HostTensor>(v.at(0)); }
HostTensor by_reference(const TensorType& t, const HostTensor& x, DType to = DType::f32) {
  const HostValue in[] = {x};
  return one(evaluate(dequantized(t, to), registry(), in));
}
std::vector<double> numbers_of(const HostTensor& x) {
  std::vector<double> v;
  for (std::int64_t i = 0; i < x.numel(); ++i) v.push_back(x.get_f64(i));
  return v;
}
template <class T>
HostTensor tensor_of(DType t, std::vector<std::int64_t> shape, const std::vector<T>& v) {
  return HostTensor::from(t, std::move(shape), std::vector<double>(v.begin(), v.end()));
}

/// Element by element, NaN equal to NaN; differences of at most `allowed`.
void expect_numbers(const HostTensor& got, const HostTensor& want, double allowed, const std::string& what) {
  ASSERT_EQ(to_string(type_of(got)), to_string(type_of(want))) << what;
  for (std::int64_t i = 0; i < got.numel(); ++i) {
    const double a = got.get_f64(i), e = want.get_f64(i);
    if (std::isnan(e) ? !std::isnan(a) : a != e && !(std::abs(a - e) <= allowed))
      return (void)(ADD_FAILURE() << what << " [" << i << "]: " << a << ", expected " << e);
  }
}

TEST(Dequantize, DataAndTableHaveTheSameFormats) {
  std::set<std::string> table, data;
  for (const BlockFormat& f : ops::block_formats) table.insert(std::string(f.name));
  for (const auto& [name, value] : blocks()) data.insert(name.substr(0, name.find('.')));
  EXPECT_EQ(table, data);
}

// The order of operations is the format's own, each of which f32 rounds once: every bit agrees.
TEST(Dequantize, BlocksEqualOtherImplementations) {
  for (const BlockFormat& f : ops::block_formats) {
    const std::string name(f.name);
    const HostTensor &stored = blocks().at(name + ".stored"), &numbers = blocks().at(name + ".numbers");
    EXPECT_EQ(stored.shape()[1] / f.bytes * f.elements, numbers.shape()[1]) << name;
    expect_numbers(by_reference(blocked(stored, name), stored), numbers, 0, name);
  }
}

// A compiled program may contract d * q - m, which leaves out the rounding of the product: half a unit of it. A product
// is at most four times the greatest number, since the q of a group reach over half of their range at least: 2^-22 of
// that, and a unit of the result, 2^-23, where the last rounding then falls differently.
TEST(Dequantize, BlocksOnTheProcessor) {
  const std::set<std::string_view> sums{"q4_1", "q5_1", "q2_k", "q4_k", "q5_k"};
  for (const BlockFormat& f : ops::block_formats) {
    const std::string name(f.name);
    const HostTensor &stored = blocks().at(name + ".stored"), &numbers = blocks().at(name + ".numbers");
    double most = 0;
    for (double v : numbers_of(numbers))
      if (std::isfinite(v)) most = std::max(most, std::abs(v));
    const runtime::Executable e(runtime::open_device("cpu"), dequantized(blocked(stored, name)), catalog(), {});
    const HostValue in[] = {stored};
    expect_numbers(one(e.run(in)), numbers, sums.contains(f.name) ? 0x1p-21 * most : 0, name);
  }
}

TEST(Dequantize, OtherResultsAreRoundedOnce) {
  const HostTensor &stored = blocks().at("q6_k.stored"), &numbers = blocks().at("q6_k.numbers");
  for (DType t : {DType::f16, DType::bf16, DType::f64}) {
    const HostTensor got = by_reference(blocked(stored, "q6_k"), stored, t);
    for (std::int64_t i = 0; i < got.numel(); ++i)
      ASSERT_EQ(got.get_f64(i), round_to(t, numbers.get_f64(i))) << name(t) << " " << i;
  }
}

// test_dequantizelinear and test_dequantizelinear_axis of ONNX's backend tests.
TEST(Dequantize, AffineEqualsOnnxExamples) {
  const HostTensor x = tensor_of<int>(DType::u8, {4}, {0, 3, 128, 255});
  EXPECT_EQ(numbers_of(by_reference(quantized(x, {.scales = {2}, .zero_points = {128}}), x)),
            (std::vector<double>{-256, -250, 0, 254}));
  const HostTensor of_axis = tensor_of<int>(DType::u8, {1, 3, 3, 2},
                                            {3, 89, 34, 200, 74, 59, 5, 24, 24, 87, 32, 13, 245, 99, 4, 142, 121, 102});
  EXPECT_EQ(
      numbers_of(
          by_reference(quantized(of_axis, {.scales = {2, 4, 5}, .zero_points = {84, 24, 196}, .axis = 1}), of_axis)),
      (std::vector<double>{-162, 10, -100, 232, -20, -50, -76, 0, 0, 252, 32, -44, 245, -485, -960, -270, -375, -470}));
}

// i4 shares bytes: two elements in each, of one row and of two.
TEST(Dequantize, FourBitsOnTheProcessor) {
  const HostTensor x = tensor_of<int>(DType::i4, {3, 3}, {-8, 7, 0, 1, -1, 2, 3, -4, 5});
  const TensorType t = quantized(x, {.scales = {1, 0.5, 0.25}, .zero_points = {-1, 0, 7}, .axis = 0});
  const runtime::Executable e(runtime::open_device("cpu"), dequantized(t), catalog(), {});
  const HostValue in[] = {x};
  EXPECT_EQ(numbers_of(one(e.run(in))), (std::vector<double>{-7, 8, 1, 0.5, -0.5, 1, -1, -2.75, -0.5}));
}

TEST(Dequantize, WeightsOfAProduct) {
  const HostTensor &stored = blocks().at("q4_0.stored"), &numbers = blocks().at("q4_0.numbers");
  HostTensor x(DType::f32, {3, 64});
  for (std::int64_t i = 0; i < x.numel(); ++i) x.set_f64(i, static_cast<double>(i % 11 - 5));
  const std::string text =
      "rlx 1\ngraph main(%x: f32[3,64], %w: u8[2,36]{block=q4_0}) {\n"
      "  %0 = dequantize(%w) : f32[2,64]\n"
      "  %1 = transpose(%0) {permutation = [1, 0]} : f32[64,2]\n"
      "  %2 = dot_general(%x, %1) {lhs_contract = [1], rhs_contract = [0]} : f32[3,2]\n  return %2 \"y\" }";
  const Graph g = parse(text, registry());
  EXPECT_EQ(print(parse(print(g), registry())), print(g));
  const HostValue in[] = {x, stored};
  for (const char* device : {"reference", "cpu"}) {
    const runtime::Executable e(runtime::open_device(device), g, catalog(), {});
    const HostTensor y = one(e.run(in));
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 2; ++j) {
        double sum = 0, size = 0;
        for (std::int64_t k = 0; k < 64; ++k) {
          const double term = x.get_f64(i * 64 + k) * numbers.get_f64(j * 64 + k);
          sum += term;
          size += std::abs(term);
        }
        EXPECT_NEAR(y.get_f64(i * 2 + j), sum, 64 * 0x1p-24 * size) << device;  // 64 roundings of f32.
      }
  }
}

// The activations have the dequantized weights for gradient; the weights have none.
TEST(Dequantize, GradientsPassItBy) {
  const HostTensor &stored = blocks().at("q8_0.stored"), &numbers = blocks().at("q8_0.numbers");
  Graph g("main");
  Builder b(g, registry());
  const Value x = b.input(f32({2, 64}), "x"), w = b.input(blocked(stored, "q8_0"), "w");
  b.output(ops::sum_all(ops::mul(x, ops::dequantize(w))), "y");
  const Graph gradient = transform::grad(g, registry(), {{true, false}, false});
  const HostValue in[] = {HostTensor(DType::f32, {2, 64}), stored};
  expect_numbers(one(evaluate(gradient, registry(), in)), numbers, 0, "gradient");
}

TEST(Dequantize, BatchesKeepTheirScales) {
  const HostTensor x = tensor_of<int>(DType::i8, {2, 2}, {1, 2, 3, 4});
  const Graph g = dequantized(quantized(x, {.scales = {1, 10}, .axis = 0}));
  const Graph all = transform::vmap(g, registry(), {{0}, {0}, 2});
  EXPECT_EQ(to_string(all.type(all.inputs()[0])), "i8[2,2,2]{scales=(1,10),axis=1}");
  const HostValue in[] = {tensor_of<int>(DType::i8, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})};
  EXPECT_EQ(numbers_of(one(evaluate(all, registry(), in))), (std::vector<double>{1, 2, 30, 40, 5, 6, 70, 80}));
  const Graph of_blocks = dequantized(ops::quantized(tensor(DType::u8, {2, 18}), {.block_format = "q4_0"}));
  EXPECT_EQ(to_string(transform::vmap(of_blocks, registry(), {{1}, {0}, 5}).type(0)), "u8[2,5,18]{block=q4_0}");
  try {
    transform::vmap(of_blocks, registry(), {{2}, {0}, 5});
    ADD_FAILURE() << "accepted";
  } catch (const VerifyError& e) { EXPECT_EQ(e.constraint(), "batch") << e.what(); }
}

// Shapes are those of what is stored; the numbers' follow from them.
TEST(Dequantize, SymbolsCountBlocks) {
  const Dim m = Dim::symbol("m");
  Graph g = dequantized(ops::quantized(tensor(DType::u8, {m * 18}), {.block_format = "q4_0"}));
  g.symbols["m"] = {};
  EXPECT_EQ(to_string(g.type(g.outputs()[0])), "f32[32*m]");
  const HostTensor stored = blocks().at("q4_0.stored").reshaped({72}), numbers = blocks().at("q4_0.numbers");
  const HostValue in[] = {stored};
  expect_numbers(one(evaluate(specialise(g, registry(), {{"m", 4}}), registry(), in)), numbers.reshaped({128}), 0, "");
}

TEST(Dequantize, ArgumentsAreWhatIsStored) {
  const Graph g = dequantized(ops::quantized(tensor(DType::u8, {18}), {.block_format = "q4_0"}));
  for (const HostTensor& wrong :
       {HostTensor(DType::u8, {36}), HostTensor(DType::i8, {18}), HostTensor(DType::f32, {32})}) {
    const HostValue in[] = {wrong};
    EXPECT_THROW(evaluate(g, registry(), in), ArgumentError);
    const runtime::Executable e(runtime::open_device("cpu"), g, catalog(), {});
    EXPECT_THROW(e.run(in), ArgumentError);
  }
}

// Read as plain elements they would be other numbers.
TEST(Dequantize, NothingElseTakesQuantizedElements) {
  for (const Op* op : registry().all())
    for (const Operand& o : op->operands())
      EXPECT_EQ(o.quantized, op->name() == "dequantize" || op->name() == "bitcast") << op->name();
}

}  // namespace
}  // namespace rlx

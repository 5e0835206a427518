// The numbers that a quantized tensor stands for. A scheme whose parameters are in the type is `affine`, one whose
// scales lie among the elements is a row of block_formats.hpp.
#include "ops/block_formats.hpp"
#include "ops/quantized.hpp"

#include <array>
#include <cmath>

namespace rlx::ops {

namespace dequantizing {
namespace {

constexpr DTypeSet stored{DType::i4, DType::i8, DType::u8, DType::i16, DType::u16, DType::i32};
constexpr Operand operands[] = {{.name = "x", .dtypes = stored, .quantized = true}};

// --- The manual: what the operator does, then a line for each format.
constexpr std::string_view summary =
    "The numbers that a quantized x stands for. Elements with scales in the type are scale * (element - zero_point), "
    "where the difference is exact and rounded to f32 (f64 for a result of f64), as the scale is, before they are "
    "multiplied. Blocks of bytes along the last dimension are computed in f32 and rounded once; f16 fields are little "
    "endian, q are unsigned numbers. GGUF kinds are as in ggml-common.h and ggml-quants.c of ggml, MX kinds have the "
    "values of the OCP Microscaling Formats specification 1.0 and the scale first. Kinds that need tables (IQ*) are "
    "not "
    "here.";
constexpr std::string_view line = "\n    ", of = ": ", in = " elements in ", colon = " bytes: ";

constexpr std::string_view digits_of(std::array<char, 3>& buffer, std::int64_t n) {
  std::size_t at = buffer.size();
  for (; n; n /= 10) buffer[--at] = static_cast<char>('0' + n % 10);
  return {buffer.data() + at, buffer.size() - at};
}
template <class F>
constexpr void each_part(F put) {
  put(summary);
  for (const BlockFormat& f : block_formats) {
    std::array<char, 3> elements{}, bytes{};
    for (std::string_view part :
         {line, f.name, of, digits_of(elements, f.elements), in, digits_of(bytes, f.bytes), colon, f.layout})
      put(part);
  }
}
constexpr std::size_t manual_size = [] {
  std::size_t n = 0;
  each_part([&](std::string_view part) { n += part.size(); });
  return n;
}();
constexpr std::array<char, manual_size> manual = [] {
  std::array<char, manual_size> text{};
  auto at = text.begin();
  each_part([&](std::string_view part) { at = std::copy(part.begin(), part.end(), at); });
  return text;
}();

// --- Constraints.
const Quantization& scheme_of(const TensorType& t) { return *t.quantization; }
const BlockFormat& format_of(const TensorType& t) { return *find_block_format(scheme_of(t).block_format); }

Answer names_a_format(const DTypeAttrs&, const Signature& s) {
  if (!is_blocked(s.tensor(0)) || find_block_format(scheme_of(s.tensor(0)).block_format)) return true;
  std::string known;
  for (const BlockFormat& f : block_formats) known += (known.empty() ? "" : ", ") + std::string(f.name);
  return Answer::no("known are " + known);
}
Answer is_bytes_alone(const DTypeAttrs&, const Signature& s) {
  const TensorType& t = s.tensor(0);
  if (!is_blocked(t)) return true;
  const Quantization& q = scheme_of(t);
  return t.dtype == DType::u8 && q.scales.empty() && q.zero_points.empty() && q.axis < 0;
}
Answer has_whole_blocks(const DTypeAttrs&, const Signature& s) {
  const TensorType& t = s.tensor(0);
  if (!is_blocked(t)) return true;
  if (t.rank() == 0) return Answer::no("it has no dimension");
  return s.equal(mod(t.shape.back(), format_of(t).bytes), 0);
}
Answer has_scales(const DTypeAttrs&, const Signature& s) {
  const TensorType& t = s.tensor(0);
  if (is_blocked(t)) return true;
  const Quantization& q = scheme_of(t);
  if (!q.zero_points.empty() && q.zero_points.size() != q.scales.size()) return false;
  if (q.axis < 0) return q.scales.size() == 1;
  if (Answer a = axis_within(q.axis, t.rank()); a.is_no()) return a;
  return s.equal(t.dim(q.axis), static_cast<std::int64_t>(q.scales.size()));
}
Answer has_finite_scales(const DTypeAttrs&, const Signature& s) {
  const auto& scales = scheme_of(s.tensor(0)).scales;
  return std::all_of(scales.begin(), scales.end(), [](double v) { return v > 0 && std::isfinite(v); });
}
Answer has_stored_zero_points(const DTypeAttrs&, const Signature& s) {
  const auto& points = scheme_of(s.tensor(0)).zero_points;
  const int bits = bit_width(s.dtype(0));
  const bool is_signed = is_signed_integer(s.dtype(0));
  const std::int64_t low = is_signed ? -(std::int64_t{1} << (bits - 1)) : 0;
  const std::int64_t high = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  return std::all_of(points.begin(), points.end(), [&](std::int64_t v) { return low <= v && v <= high; });
}

constexpr Constraint<DTypeAttrs> constraints[] = {
    {"C1", "x is quantized", [](const DTypeAttrs&, const Signature& s) -> Answer { return is_quantized(s.tensor(0)); }},
    {"C2", "the result is f16, bf16, f32 or f64",
     [](const DTypeAttrs& a, const Signature&) -> Answer { return floating.contains(a.dtype); }},
    {"C3", "a block format is a known one", names_a_format},
    {"C4", "blocks are of u8 and have no scales, zero points or axis in the type", is_bytes_alone},
    {"C5", "the last dimension is a number of whole blocks", has_whole_blocks},
    {"C6", "one scale, or one for each place along the axis, and as many zero points, or none", has_scales},
    {"C7", "scales are finite and above 0", has_finite_scales},
    {"C8", "zero points are values of the element type", has_stored_zero_points}};

// --- Meaning.
Types infer(const DTypeAttrs& a, const Signature& s) {
  const TensorType& t = s.tensor(0);
  Shape shape = t.shape;
  if (is_blocked(t)) shape.back() = floordiv(shape.back(), format_of(t).bytes) * format_of(t).elements;
  return {tensor(a.dtype, std::move(shape))};
}

/// One element, or one for each place along the axis of `like`.
template <class T>
Value parameter(Value like, DType t, const std::vector<T>& values, int axis) {
  const std::vector<double> numbers(values.begin(), values.end());  // Zero points have at most 32 bits.
  if (axis < 0) return scalar(*like.builder, t, numbers[0]);
  const Value all = constant(*like.builder, HostTensor::from(t, {static_cast<std::int64_t>(numbers.size())}, numbers));
  return broadcast(all, like.shape(), {axis});
}

Value affine(Value x, const Quantization& q, DType t) {
  const DType wide = bit_width(x.dtype()) < 32 ? DType::i32 : DType::i64;  // Holds every difference.
  if (!q.zero_points.empty()) {
    x = convert(x, wide);
    x = sub(x, parameter(x, wide, q.zero_points, q.axis));
  }
  x = convert(x, t == DType::f64 ? t : DType::f32);
  return convert(mul(x, parameter(x, x.dtype(), q.scales, q.axis)), t);
}

Value blocked(Value x, const BlockFormat& f, DType t) {
  Shape blocks = x.shape(), out = blocks;
  const Dim count = floordiv(blocks.back(), f.bytes);
  blocks.back() = count;
  blocks.emplace_back(f.bytes);
  out.back() = count * f.elements;
  return convert(reshape(f.decode(reshape(x, std::move(blocks))), std::move(out)), t);
}

Values decompose(Builder&, const DTypeAttrs& a, ValuesIn in) {
  const TensorType type = in[0].tensor();  // Those of a graph move when nodes are added.
  const Value x = bitcast(in[0], type.dtype);
  if (is_blocked(type)) return {blocked(x, format_of(type), a.dtype)};
  return {affine(x, scheme_of(type), a.dtype)};
}

Batched batch(const BatchCall<DTypeAttrs>& c) {
  const TensorType& t = c.in[0].tensor();
  if (is_blocked(t) && c.axes[0] == t.rank() - 1)
    refuse_rule("dequantize", "batch", "the last dimension holds the bytes of blocks, which the members would part");
  return {{dequantize(c.in[0], c.attrs.dtype)}, {c.axes[0]}};
}
ShardRule shard(const DTypeAttrs& a, const Signature& s) {
  return shard_positions(s, infer(a, s), whole_dimensions(s.tensor(0)));
}

// --- Samples.
using Bytes = std::vector<double>;
Bytes joined(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
/// `count` numbers f(0), f(1), ...
template <class F>
Bytes each(int count, F f) {
  Bytes v;
  for (int i = 0; i < count; ++i) v.push_back(f(i));
  return v;
}

TensorType blocks(Shape shape, std::string_view format) {
  return quantized(tensor(DType::u8, std::move(shape)), {.block_format = std::string(format)});
}
TensorType affine_type(DType t, Shape shape, Quantization q) {
  return quantized(tensor(t, std::move(shape)), std::move(q));
}

std::vector<Sample<DTypeAttrs>> samples() {
  const auto a = [](std::vector<SampleOperand> in, DType t = DType::f32) {
    return sample<DTypeAttrs>(std::move(in), {.dtype = t});
  };
  std::vector<Sample<DTypeAttrs>> all{
      a({{affine_type(DType::i8, {2, 2}, {.scales = {0.5}, .zero_points = {1}}), {3, -128, 1, 127}}})
          .expects({{1, -64.5, 0, 63}})
          .exact(),
      a({{affine_type(DType::u8, {2, 2}, {.scales = {0.5, 2}, .zero_points = {0, 255}, .axis = 1}), {3, 0, 255, 254}}})
          .expects({{1.5, -510, 127.5, -2}})
          .exact(),
      a({{affine_type(DType::i4, {2, 3}, {.scales = {0.25, 3}, .axis = 0}), {-8, 0, 7, -1, 2, 3}}}, DType::f64)
          .expects({{-2, 0, 1.75, -3, 6, 9}})
          .exact(),
      // The difference has 33 bits.
      a({{affine_type(DType::i32, {2}, {.scales = {0.5}, .zero_points = {-2147483648}}), {2147483647, 0}}}, DType::f64)
          .expects({{2147483647.5, 1073741824}})
          .exact(),
      a({{affine_type(DType::i16, {3, 4}, {.scales = {0.1}}), Fill::uniform, -32768, 32767}}, DType::bf16),
      a({{affine_type(DType::u16, {4}, {.scales = {0.001}, .zero_points = {32768}}), Fill::uniform, 0, 65535}},
        DType::f16),
      // 0x3c00 is 1; the low digits count up, the high ones down.
      a({{blocks({18}, "q4_0"), joined({0, 60}, each(16, [](int i) { return 16 * (15 - i) + i; }))}})
          .expects({each(32, [](int i) { return i < 16 ? i - 8 : 23 - i; })})
          .exact(),
      // Scale 2^(126 - 127), codes 0 to 15 low and high.
      a({{blocks({17}, "mxfp4"), joined({126}, each(16, [](int i) { return 17 * i; }))}})
          .expects({each(32,
                         [](int i) {
                           constexpr double halves[] = {0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3};
                           return i / 8 % 2 ? -halves[i % 8] : halves[i % 8];
                         })})
          .exact(),
      a({{blocks({2, 68}, "q8_0"), Fill::uniform, 0, 60}}, DType::f16), a({f32({2})}).breaking("dtype"),
      a({i32({2})}).breaking("C1"), a({affine_type(DType::i8, {2}, {.scales = {1}})}, DType::i32).breaking("C2"),
      a({blocks({2}, "iq2_xs")}).breaking("C3"), a({quantized(i32({18}), {.block_format = "q4_0"})}).breaking("C4"),
      a({blocks({2, 17}, "q4_0")}).breaking("C5"), a({blocks({}, "q4_0")}).breaking("C5"),
      a({affine_type(DType::i8, {2}, {})}).breaking("C6"),
      a({affine_type(DType::i8, {2}, {.scales = {1, 2, 3}, .axis = 0})}).breaking("C6"),
      a({affine_type(DType::i8, {2}, {.scales = {0}})}).breaking("C7"),
      a({affine_type(DType::u8, {2}, {.scales = {1}, .zero_points = {-1}})}).breaking("C8")};
  // Bytes up to 120 make finite scales of either kind.
  for (const BlockFormat& f : block_formats)
    all.push_back(a({{blocks({2, 2 * f.bytes}, f.name), Fill::uniform, 0, 120}}));
  return all;
}

}  // namespace
}  // namespace dequantizing

extern const OpDef<DTypeAttrs> dequantize_op{
    .name = "dequantize",
    .doc = std::string_view(dequantizing::manual.data(), dequantizing::manual.size()),
    .operands = dequantizing::operands,
    .constraints = dequantizing::constraints,
    .infer = dequantizing::infer,
    .meaning = Composite<DTypeAttrs>{dequantizing::decompose},
    .vjp = Vjp<DTypeAttrs>{zero_vjp<DTypeAttrs>},  // What is stored is whole numbers, and the scales are of the type.
    .jvp = zero_jvp<DTypeAttrs>,
    .batch = dequantizing::batch,
    .shard = dequantizing::shard,
    .cost = cost_moving<dequantizing::infer, 8, DTypeAttrs>,
    .samples = dequantizing::samples};

}  // namespace rlx::ops

// Builder sugar: what decompositions, rules and programs write. Each function emits one node, or a few where NumPy's
// habits ask for it (broadcasting to one shape, keeping a reduced dimension).
#pragma once
#include <rlx/ir/builder.hpp>
#include <rlx/ops/attributes.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace rlx::ops {

// --- Constants. `like` gives dtype and, for the full forms, shape.
RLX_API Value constant(Builder& b, HostTensor value);
RLX_API Value scalar(Builder& b, DType t, double v);
RLX_API Value full(Builder& b, DType t, Shape shape, double v);
RLX_API Value full_like(Value like, double v);
RLX_API Value zeros_like(Value like);
RLX_API Value iota(Builder& b, DType t, Shape shape, int axis);
/// A dimension as a scalar; a constant where it is one.
RLX_API Value dim_size(Builder& b, Dim d, DType t = DType::i64);

// --- Elementwise; operands of different shapes are broadcast by NumPy's rule, dtypes must agree.
#define RLX_UNARY(f) RLX_API Value f(Value x)
RLX_UNARY(neg);
RLX_UNARY(abs);
RLX_UNARY(sign);
RLX_UNARY(exp);
RLX_UNARY(log);
RLX_UNARY(expm1);
RLX_UNARY(log1p);
RLX_UNARY(sqrt);
RLX_UNARY(rsqrt);
RLX_UNARY(cbrt);
RLX_UNARY(sin);
RLX_UNARY(cos);
RLX_UNARY(tan);
RLX_UNARY(asin);
RLX_UNARY(acos);
RLX_UNARY(atan);
RLX_UNARY(sinh);
RLX_UNARY(cosh);
RLX_UNARY(tanh);
RLX_UNARY(erf);
RLX_UNARY(erfc);
RLX_UNARY(erfinv);
RLX_UNARY(lgamma);
RLX_UNARY(digamma);
RLX_UNARY(floor);
RLX_UNARY(ceil);
RLX_UNARY(round);
RLX_UNARY(is_nan);
RLX_UNARY(is_finite);
RLX_UNARY(logical_not);
RLX_UNARY(popcount);
RLX_UNARY(clz);
RLX_UNARY(real);
RLX_UNARY(imag);
RLX_UNARY(conj);
#undef RLX_UNARY
#define RLX_BINARY(f) RLX_API Value f(Value x, Value y)
RLX_BINARY(add);
RLX_BINARY(sub);
RLX_BINARY(mul);
RLX_BINARY(div);
RLX_BINARY(rem);
RLX_BINARY(pow);
RLX_BINARY(atan2);
RLX_BINARY(min);
RLX_BINARY(max);
RLX_BINARY(logical_and);
RLX_BINARY(logical_or);
RLX_BINARY(logical_xor);
RLX_BINARY(shift_left);
RLX_BINARY(shift_right_logical);
RLX_BINARY(shift_right_arithmetic);
RLX_BINARY(complex);
#undef RLX_BINARY
RLX_API Value fma(Value x, Value y, Value z);
RLX_API Value select(Value predicate, Value on_true, Value on_false);
RLX_API Value clamp(Value low, Value x, Value high);
RLX_API Value compare(Value x, Value y, Direction d);
RLX_API Value convert(Value x, DType t);  ///< x itself where the dtype is already t.
/// The bits of x as another dtype; of a quantized x, and with its dtype, what it stores as plain elements.
RLX_API Value bitcast(Value x, DType t);

// --- Shape.
RLX_API Value broadcast(Value x, Shape shape, std::vector<int> axes);
RLX_API Value broadcast_to(Value x, Shape shape);  ///< NumPy's rule: trailing dimensions match or are 1.
RLX_API Value reshape(Value x, Shape shape);       ///< x itself where the shape is already that.
RLX_API Value transpose(Value x, std::vector<int> permutation);
RLX_API Value slice(Value x, std::vector<Dim> start, std::vector<Dim> limit, std::vector<std::int64_t> stride = {});
RLX_API Value slice_axis(Value x, int axis, Dim start, Dim limit);
RLX_API Value dynamic_slice(Value x, ValuesIn start, std::vector<Dim> sizes);
RLX_API Value dynamic_update_slice(Value x, Value update, ValuesIn start);
RLX_API Value pad(Value x, Value with, std::vector<std::int64_t> low, std::vector<std::int64_t> high,
                  std::vector<std::int64_t> interior = {});
RLX_API Value concat(ValuesIn xs, int axis);
RLX_API Value reverse(Value x, std::vector<int> axes);
RLX_API Value insert_axis(Value x, int axis, Dim size);  ///< Broadcasts along a new dimension.

// --- Reductions. `keep` leaves the reduced dimensions in place with size 1; no axes: x itself. Sums and products of
// f16, bf16 and fp8 are formed in f32 and rounded once, to `result` (bool: x's type); integers wrap in it.
/// The region combines values of the types of `attrs.accumulate`.
RLX_API Values reduce(ValuesIn xs, ValuesIn identities, ReduceAttrs attrs, const RegionBody& combine);
RLX_API Values reduce(ValuesIn xs, ValuesIn identities, std::vector<int> axes, const RegionBody& combine);
RLX_API Value reduce_sum(Value x, std::vector<int> axes, bool keep = false, DType result = DType::boolean);
RLX_API Value reduce_prod(Value x, std::vector<int> axes, bool keep = false);
RLX_API Value reduce_max(Value x, std::vector<int> axes, bool keep = false);
RLX_API Value reduce_min(Value x, std::vector<int> axes, bool keep = false);
RLX_API Value reduce_and(Value x, std::vector<int> axes, bool keep = false);
RLX_API Value reduce_or(Value x, std::vector<int> axes, bool keep = false);
RLX_API Value sum_all(Value x);
RLX_API Value arg_reduce(Value x, int axis, Extremum kind, DType index = DType::i32);
RLX_API Values associative_scan(ValuesIn xs, ValuesIn identities, AssociativeScanAttrs attrs,
                                const RegionBody& combine);
RLX_API Value cumsum(Value x, int axis, bool reverse = false, bool exclusive = false);
RLX_API Value segment_reduce(Value data, Value offsets, Combine kind);
RLX_API Value reduce_window(Value x, ReduceWindowAttrs attrs);
/// Sums a cotangent of a broadcast value back to `shape`.
RLX_API Value sum_to(Value x, Shape shape);

// --- Access by index.
RLX_API Value gather(Value x, Value indices, GatherAttrs attrs);
RLX_API Value scatter(Value x, Value indices, Value updates, ScatterAttrs attrs);
/// Positions of the true elements of a vector, and each position counts[i] times with how many times it came before.
/// `size` is a new symbol of the graph, or a number to pad up to; `bound` limits a symbol (-1: no bound is known).
RLX_API Value nonzero(Value mask, Dim size, DType index = DType::i32, Dim bound = -1);
RLX_API Values repeat(Value counts, Dim size, DType index = DType::i32, Dim bound = -1);
/// x (i64), whose elements must lie from attrs.lower to `limit`.
RLX_API Value check_within(Value x, Value limit, CheckWithinAttrs attrs);
/// Rows x[indices[i], ...] along `axis`; indices of any shape.
RLX_API Value take(Value x, Value indices, int axis);
/// x with updates[i, ...] added to x[indices[i], ...]; indices of rank 1.
RLX_API Value index_add(Value x, Value indices, Value updates);
RLX_API Values sort(ValuesIn xs, SortAttrs attrs);
RLX_API Values top_k(Value x, std::int64_t k);

// --- Contractions.
RLX_API Value dot_general(Value lhs, Value rhs, DotGeneralAttrs attrs);
/// Matrix product of the last two dimensions, leading ones are batch dimensions of equal shape.
RLX_API Value matmul(Value lhs, Value rhs);
RLX_API Value dot(Value x, Value y);  ///< Inner product of two vectors.
RLX_API Value conv(Value input, Value kernel, ConvAttrs attrs);
RLX_API Value ragged_dot(Value lhs, Value rhs, Value group_sizes, RaggedDotAttrs attrs = {});
RLX_API Value fft(Value x, FftAttrs attrs);

// --- Random numbers: pure functions of (key u32[2], counter u64[]).
RLX_API Value rng_bits(Value key, Value counter, Shape shape);
RLX_API Value rng_uniform(Value key, Value counter, DType t, Shape shape);  ///< In [0, 1).
RLX_API Value rng_normal(Value key, Value counter, DType t, Shape shape);   ///< Mean 0, variance 1.

// --- Control flow. Bodies see only their arguments: what else they need is passed as an invariant.
RLX_API Values if_(Value predicate, ValuesIn operands, const RegionBody& then_body, const RegionBody& else_body);
RLX_API Values while_(ValuesIn state, ValuesIn invariants, const RegionBody& condition, const RegionBody& body,
                      std::int64_t max_trips = -1);
RLX_API Values scan(ValuesIn state, ValuesIn sequences, ValuesIn invariants, const RegionBody& body,
                    bool reverse = false);
/// The body's results; reverse mode keeps the operands alone and runs the body again.
RLX_API Values checkpoint(ValuesIn operands, const RegionBody& body);
/// The values themselves: what is computed from the results is not merged with what is computed from the operands, and
/// waits for all of them.
RLX_API Values barrier(ValuesIn values);
RLX_API Value stop_gradient(Value x);  ///< x, which derivatives hold fixed.

// --- Composites that belong to no family.
RLX_API Value softmax(Value x, int axis);
RLX_API Value log_softmax(Value x, int axis);
RLX_API Value logsumexp(Value x, std::vector<int> axes, bool keep = false);
RLX_API Value mean(Value x, std::vector<int> axes, bool keep = false);
RLX_API Value var(Value x, std::vector<int> axes, bool keep = false, std::int64_t correction = 0);
RLX_API Value dequantize(Value x, DType t = DType::f32);
RLX_API Value layer_norm(Value x, Value scale, Value bias, double epsilon = 1e-5);

}  // namespace rlx::ops

namespace rlx {

// Infix forms of the elementwise functions, beside Value so that they are found wherever one is.
inline Value operator-(Value x) { return ops::neg(x); }
inline Value operator+(Value x, Value y) { return ops::add(x, y); }
inline Value operator-(Value x, Value y) { return ops::sub(x, y); }
inline Value operator*(Value x, Value y) { return ops::mul(x, y); }
inline Value operator/(Value x, Value y) { return ops::div(x, y); }
/// With a number: a scalar of the other operand's dtype, broadcast.
RLX_API Value operator+(Value x, double y);
RLX_API Value operator-(Value x, double y);
RLX_API Value operator*(Value x, double y);
RLX_API Value operator/(Value x, double y);
RLX_API Value operator+(double x, Value y);
RLX_API Value operator-(double x, Value y);
RLX_API Value operator*(double x, Value y);
RLX_API Value operator/(double x, Value y);

namespace ops {
using rlx::operator+, rlx::operator-, rlx::operator*, rlx::operator/;
}  // namespace ops

}  // namespace rlx

// Tensor: an immutable dense array, concrete or traced. Functions mirror the operators; operands of different shapes
// are broadcast by NumPy's rule. Outside a traced function each call runs at once on the default device.
#pragma once
#include <rlx/handle.hpp>
#include <rlx/ops/attributes.hpp>

#include <algorithm>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace rlx {

using Extents = std::vector<std::int64_t>;  ///< Sizes of dimensions, outermost first.
using Axes = std::vector<int>;              ///< Dimensions; negative ones count from the last.

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) return DType::boolean;
  else if constexpr (std::is_same_v<T, float>) return DType::f32;
  else if constexpr (std::is_same_v<T, double>) return DType::f64;
  else if constexpr (std::is_same_v<T, std::complex<float>>) return DType::c64;
  else if constexpr (std::is_same_v<T, std::complex<double>>) return DType::c128;
  else {
    static_assert(std::is_integral_v<T>, "no element type of rlx corresponds to this C++ type");
    constexpr DType s[] = {DType::i8, DType::i16, DType::i32, DType::i64},
                    u[] = {DType::u8, DType::u16, DType::u32, DType::u64};
    constexpr int log2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? s[log2] : u[log2];
  }
}

class RLX_API Tensor : public Handle {
 public:
  Tensor() = default;
  Tensor(HostTensor t) : Handle(HostValue(std::move(t))) {}  // NOLINT: files and references give these
  /// Throws ArgumentError where it is not a tensor.
  explicit Tensor(Handle h);
  /// A number in a formula: takes the dtype of the tensor it meets, else f64, i64 (u64 from 2^63 on) or bool. A number
  /// that an integer tensor cannot hold is an ArgumentError, not a truncation.
  template <class T>
    requires std::is_arithmetic_v<T>
  Tensor(T v) : Tensor(number(v), Number{}) {}  // NOLINT: x + 1, where(p, x, 0)

  /// Row-major elements, copied; no shape: a vector.
  template <class T>
  static Tensor from(std::span<const T> values, std::optional<Extents> shape = {}) {
    Tensor t(blank(dtype_of<T>(), values.size(), shape));
    t.fill(values.data(), values.size_bytes());
    return t;
  }
  template <class T>
  static Tensor from(const std::vector<T>& values, std::optional<Extents> shape = {}) {
    if constexpr (std::is_same_v<T, bool>) return from_bools(values, shape);
    else return from(std::span<const T>(values), std::move(shape));
  }
  template <class T>
  static Tensor from(std::initializer_list<T> values, std::optional<Extents> shape = {}) {
    return from(std::span<const T>(values.begin(), values.size()), std::move(shape));
  }
  static Tensor scalar(double v, DType t = DType::f64) { return HostTensor::scalar(t, v); }

  DType dtype() const { return tensor_type().dtype; }
  Extents shape() const { return constant_shape(tensor_type().shape); }
  std::int64_t dim(int axis) const;
  int rank() const { return tensor_type().rank(); }
  std::int64_t numel() const { return rlx::element_count(std::span<const std::int64_t>(shape())); }
  TensorType tensor_type() const;

  /// The elements; these throw TraceError for a traced tensor, whose elements do not exist yet.
  const HostTensor& host_tensor() const { return std::get<HostTensor>(host()); }
  /// A copy of the elements, which must be of type T.
  template <class T>
  std::vector<T> to_vector() const {
    const std::span<const T> s = elements(dtype_of<T>()).template as<T>();
    return {s.begin(), s.end()};
  }
  /// The only element, converted. Throws ArgumentError when there are several. To integers it truncates; beyond those
  /// of T it is the nearest limit, and NaN is 0. To bool it is whether it is not 0.
  template <class T = double>
  T item() const {
    const HostTensor& t = only();
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, bool>) return static_cast<bool>(*this);
    else if constexpr (std::is_floating_point_v<T>) return static_cast<T>(t.get_f64(0));
    else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
      return static_cast<T>(std::clamp<std::int64_t>(t.get_i64(0), Limits::min(), Limits::max()));
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(std::min<std::uint64_t>(t.get_u64(0), Limits::max()));
    else return T(t.get_c128(0));
  }
  /// Whether the only element is not 0, as NaN is not.
  explicit operator bool() const { return only().get_c128(0) != 0.0; }

  bool is_number() const { return number_; }

 private:
  struct Number {};
  Tensor(HostTensor t, Number) : Handle(HostValue(std::move(t))), number_(true) {}
  template <class T>
  static HostTensor number(T v) {
    if constexpr (std::is_same_v<T, bool>) return HostTensor::scalar(DType::boolean, v);
    else if constexpr (std::is_integral_v<T>) {
      if (std::is_unsigned_v<T> && v > static_cast<T>(std::numeric_limits<std::int64_t>::max()) && sizeof(T) == 8) {
        HostTensor large(DType::u64, {});
        large.set_u64(0, static_cast<std::uint64_t>(v));
        return large;
      }
      return HostTensor::scalar_i64(DType::i64, static_cast<std::int64_t>(v));
    } else return HostTensor::scalar(DType::f64, static_cast<double>(v));
  }
  static HostTensor blank(DType t, std::size_t count, const std::optional<Extents>& shape);
  static Tensor from_bools(const std::vector<bool>& values, const std::optional<Extents>& shape);
  void fill(const void* from, std::size_t bytes);
  const HostTensor& elements(DType wanted) const;
  const HostTensor& only() const;
  bool number_ = false;
};
using Tensors = std::vector<Tensor>;

namespace detail {
/// An operand of an infix operator and the line that it stands on: operators have no default arguments.
class Operand {
 public:
  Operand(const Tensor& x, Here here = std::source_location::current()) : x_(&x), here_(here) {}  // NOLINT
  template <class T>
    requires(!std::derived_from<T, Tensor> && std::convertible_to<const T&, Tensor>)
  Operand(const T& x, Here here = std::source_location::current())  // NOLINT: a number, a HostTensor
      : own_(Tensor(x)), x_(&*own_), here_(here) {}
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;
  const Tensor& tensor() const { return *x_; }
  const Here& here() const { return here_; }

 private:
  std::optional<Tensor> own_;
  const Tensor* x_;
  Here here_;
};
}  // namespace detail

// --- Making tensors.
RLX_API Tensor full(Extents shape, double value, DType t = DType::f64, RLX_HERE);
inline Tensor zeros(Extents shape, DType t = DType::f64, RLX_HERE) { return full(std::move(shape), 0, t, here); }
inline Tensor ones(Extents shape, DType t = DType::f64, RLX_HERE) { return full(std::move(shape), 1, t, here); }
RLX_API Tensor full_like(const Tensor& like, double value, RLX_HERE);
inline Tensor zeros_like(const Tensor& like, RLX_HERE) { return full_like(like, 0, here); }
RLX_API Tensor arange(std::int64_t count, DType t = DType::i64, RLX_HERE);  ///< 0, 1, ..., count - 1
RLX_API Tensor iota(Extents shape, int axis, DType t = DType::i64, RLX_HERE);
RLX_API Tensor identity(std::int64_t n, DType t = DType::f64, RLX_HERE);

// --- Elementwise.
#define RLX_TENSOR_UNARY(f) RLX_API Tensor f(const Tensor& x, RLX_HERE)
RLX_TENSOR_UNARY(neg);
RLX_TENSOR_UNARY(abs);
RLX_TENSOR_UNARY(sign);
RLX_TENSOR_UNARY(exp);
RLX_TENSOR_UNARY(log);
RLX_TENSOR_UNARY(expm1);
RLX_TENSOR_UNARY(log1p);
RLX_TENSOR_UNARY(sqrt);
RLX_TENSOR_UNARY(rsqrt);
RLX_TENSOR_UNARY(cbrt);
RLX_TENSOR_UNARY(sin);
RLX_TENSOR_UNARY(cos);
RLX_TENSOR_UNARY(tan);
RLX_TENSOR_UNARY(asin);
RLX_TENSOR_UNARY(acos);
RLX_TENSOR_UNARY(atan);
RLX_TENSOR_UNARY(sinh);
RLX_TENSOR_UNARY(cosh);
RLX_TENSOR_UNARY(tanh);
RLX_TENSOR_UNARY(erf);
RLX_TENSOR_UNARY(erfc);
RLX_TENSOR_UNARY(erfinv);
RLX_TENSOR_UNARY(lgamma);
RLX_TENSOR_UNARY(digamma);
RLX_TENSOR_UNARY(floor);
RLX_TENSOR_UNARY(ceil);
RLX_TENSOR_UNARY(round);
RLX_TENSOR_UNARY(is_nan);
RLX_TENSOR_UNARY(is_finite);
RLX_TENSOR_UNARY(logical_not);
RLX_TENSOR_UNARY(real);
RLX_TENSOR_UNARY(imag);
RLX_TENSOR_UNARY(conj);
RLX_TENSOR_UNARY(square);
RLX_TENSOR_UNARY(sigmoid);
RLX_TENSOR_UNARY(relu);
#undef RLX_TENSOR_UNARY
#define RLX_TENSOR_BINARY(f) RLX_API Tensor f(const Tensor& x, const Tensor& y, RLX_HERE)
RLX_TENSOR_BINARY(add);
RLX_TENSOR_BINARY(sub);
RLX_TENSOR_BINARY(mul);
RLX_TENSOR_BINARY(div);
RLX_TENSOR_BINARY(rem);
RLX_TENSOR_BINARY(pow);
RLX_TENSOR_BINARY(atan2);
RLX_TENSOR_BINARY(minimum);
RLX_TENSOR_BINARY(maximum);
RLX_TENSOR_BINARY(logical_and);
RLX_TENSOR_BINARY(logical_or);
RLX_TENSOR_BINARY(logical_xor);
RLX_TENSOR_BINARY(equal);
RLX_TENSOR_BINARY(not_equal);
RLX_TENSOR_BINARY(less);
RLX_TENSOR_BINARY(less_equal);
RLX_TENSOR_BINARY(greater);
RLX_TENSOR_BINARY(greater_equal);
#undef RLX_TENSOR_BINARY
RLX_API Tensor where(const Tensor& predicate, const Tensor& on_true, const Tensor& on_false, RLX_HERE);
RLX_API Tensor clamp(const Tensor& low, const Tensor& x, const Tensor& high, RLX_HERE);
RLX_API Tensor convert(const Tensor& x, DType t, RLX_HERE);
inline Tensor operator-(const detail::Operand& x) { return neg(x.tensor(), x.here()); }
/// Without a line of its own: as good a match as the built-in `!` of bool, an Operand would be ambiguous.
inline Tensor operator!(const Tensor& x) { return logical_not(x, Here::nowhere()); }
#define RLX_TENSOR_INFIX(op, f)                                                   \
  inline Tensor operator op(const detail::Operand& x, const detail::Operand& y) { \
    return f(x.tensor(), y.tensor(), x.here());                                   \
  }
RLX_TENSOR_INFIX(+, add)
RLX_TENSOR_INFIX(-, sub)
RLX_TENSOR_INFIX(*, mul)
RLX_TENSOR_INFIX(/, div)
RLX_TENSOR_INFIX(<, less)
RLX_TENSOR_INFIX(<=, less_equal)
RLX_TENSOR_INFIX(>, greater)
RLX_TENSOR_INFIX(>=, greater_equal)
#undef RLX_TENSOR_INFIX
inline Tensor& operator+=(Tensor& x, const detail::Operand& y) { return x = add(x, y.tensor(), y.here()); }
inline Tensor& operator-=(Tensor& x, const detail::Operand& y) { return x = sub(x, y.tensor(), y.here()); }
inline Tensor& operator*=(Tensor& x, const detail::Operand& y) { return x = mul(x, y.tensor(), y.here()); }
inline Tensor& operator/=(Tensor& x, const detail::Operand& y) { return x = div(x, y.tensor(), y.here()); }

// --- Shape.
RLX_API Tensor broadcast(const Tensor& x, Extents shape, RLX_HERE);  ///< Trailing dimensions match or are 1.
RLX_API Tensor reshape(const Tensor& x, Extents shape, RLX_HERE);    ///< One size may be -1: what is left.
RLX_API Tensor transpose(const Tensor& x, RLX_HERE);                 ///< The last two dimensions swapped.
RLX_API Tensor transpose(const Tensor& x, Axes permutation, RLX_HERE);
RLX_API Tensor slice(const Tensor& x, Extents start, Extents limit, Extents stride = {}, RLX_HERE);
RLX_API Tensor slice_axis(const Tensor& x, int axis, std::int64_t start, std::int64_t limit, RLX_HERE);
/// `low` elements before and `high` after in each dimension (negative ones cut), `interior` between neighbours.
RLX_API Tensor pad(const Tensor& x, const Tensor& with, Extents low, Extents high, Extents interior = {}, RLX_HERE);
RLX_API Tensor concat(const Tensors& xs, int axis = 0, RLX_HERE);
RLX_API Tensor stack(const Tensors& xs, int axis = 0, RLX_HERE);  ///< Along a new dimension.
RLX_API Tensor reverse(const Tensor& x, Axes axes, RLX_HERE);     ///< NumPy's and PyTorch's flip.
/// x[start...] of these sizes, and x with `update` there; starts are integer scalars and are clamped.
RLX_API Tensor dynamic_slice(const Tensor& x, const Tensors& start, Extents sizes, RLX_HERE);
RLX_API Tensor dynamic_update_slice(const Tensor& x, const Tensor& update, const Tensors& start, RLX_HERE);

// --- Reductions over `axes`, or over all; `keep` leaves them in place with size 1. Results have x's dtype: sums of
// f16, bf16 and fp8 (prefixes of cumsum too) are formed in f32 and rounded once, sums of integers wrap.
#define RLX_TENSOR_REDUCE(f)                   \
  RLX_API Tensor f(const Tensor& x, RLX_HERE); \
  RLX_API Tensor f(const Tensor& x, Axes axes, bool keep = false, RLX_HERE)
RLX_TENSOR_REDUCE(sum);
RLX_TENSOR_REDUCE(prod);
RLX_TENSOR_REDUCE(max);
RLX_TENSOR_REDUCE(min);
RLX_TENSOR_REDUCE(mean);
RLX_TENSOR_REDUCE(var);
RLX_TENSOR_REDUCE(logsumexp);
RLX_TENSOR_REDUCE(all);
RLX_TENSOR_REDUCE(any);
#undef RLX_TENSOR_REDUCE
RLX_API Tensor argmax(const Tensor& x, int axis, RLX_HERE);  ///< i32; ties go to the first.
RLX_API Tensor argmin(const Tensor& x, int axis, RLX_HERE);
RLX_API Tensor cumsum(const Tensor& x, int axis = 0, RLX_HERE);
RLX_API Tensor softmax(const Tensor& x, int axis = -1, RLX_HERE);
RLX_API Tensor log_softmax(const Tensor& x, int axis = -1, RLX_HERE);
RLX_API Tensor norm(const Tensor& x, RLX_HERE);           ///< Square root of the sum of squared magnitudes.
RLX_API Tensor stop_gradient(const Tensor& x, RLX_HERE);  ///< x, which derivatives hold fixed.

// --- Access by index, order; see also rlx/tensor_index.hpp.
RLX_API Tensor take(const Tensor& x, const Tensor& indices, int axis = 0, RLX_HERE);
RLX_API Tensor index_add(const Tensor& x, const Tensor& indices, const Tensor& updates, RLX_HERE);
RLX_API Tensor sort(const Tensor& x, int axis = -1, RLX_HERE);

// --- Results whose length is what comes out: concrete outside traced functions. In a traced function the dimension is
// a symbol; other tensors get it by broadcasting, by iota_like and full_like, and size_of gives its value. `bound`
// limits the memory that a compiled program plans for; without one (-1) the host reads the length when it is known.
/// Positions of the true elements of a vector, ascending, i32.
RLX_API Tensor nonzero(const Tensor& mask, std::int64_t bound = -1, RLX_HERE);
/// Each position counts[i] times, and how many times it came before: owner and rank, i32.
struct Repeated {
  Tensor owner, rank;
};
RLX_API Repeated repeat(const Tensor& counts, std::int64_t bound = -1, RLX_HERE);
/// Rows x[i, ...] where mask[i] is true.
RLX_API Tensor compress(const Tensor& x, const Tensor& mask, std::int64_t bound = -1, RLX_HERE);
RLX_API Tensor size_of(const Tensor& x, int axis = 0, RLX_HERE);  ///< A dimension as a scalar, i64.
RLX_API Tensor iota_like(const Tensor& x, int axis = 0, DType t = DType::i64,
                         RLX_HERE);  ///< 0, 1, ... along a dimension of x.

// --- Contractions.
/// Vectors and matrices as usual; leading dimensions are batch dimensions of equal shape.
RLX_API Tensor matmul(const Tensor& x, const Tensor& y, RLX_HERE);
RLX_API Tensor dot(const Tensor& x, const Tensor& y, RLX_HERE);

// --- Random numbers: pure functions of a key and a counter (distinct counters give independent numbers).
RLX_API Tensor random_key(std::uint64_t seed);  ///< u32 [2]
/// u32: Philox 4x32-10, four words a counter.
RLX_API Tensor random_bits(const Tensor& key, const Tensor& counter, Extents shape, RLX_HERE);
/// In [0, 1), f32 or f64.
RLX_API Tensor random_uniform(const Tensor& key, const Tensor& counter, Extents shape, DType t = DType::f64, RLX_HERE);
/// Mean 0, variance 1, f32 or f64.
RLX_API Tensor random_normal(const Tensor& key, const Tensor& counter, Extents shape, DType t = DType::f64, RLX_HERE);

}  // namespace rlx

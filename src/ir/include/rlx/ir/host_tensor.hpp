// A dense row-major tensor in host memory: what references compute on, files are read into and tests compare.
#pragma once
#include <rlx/ir/dtype.hpp>

#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace rlx {

/// Value semantics with shared storage: a copy is cheap, and writing through one copy first makes the storage its own.
class RLX_API HostTensor {
 public:
  HostTensor() = default;
  /// Zero-filled. Throws MemoryError when the size overflows or cannot be had, ArgumentError on a negative dimension.
  HostTensor(DType dtype, std::vector<std::int64_t> shape);
  HostTensor(const HostTensor&) = default;
  HostTensor& operator=(const HostTensor&) = default;
  /// The source becomes a default-constructed one.
  HostTensor(HostTensor&& other) noexcept;
  HostTensor& operator=(HostTensor&& other) noexcept;
  ~HostTensor() = default;
  /// Row-major elements converted from `values`, rounded to nearest even; integers saturate.
  static HostTensor from(DType dtype, std::vector<std::int64_t> shape, std::span<const double> values);
  static HostTensor scalar(DType dtype, double value);
  static HostTensor scalar_i64(DType dtype, std::int64_t value);
  /// Takes over memory that `owner` keeps alive (a mapped file, another library's array); `bytes` as byte_size says.
  /// Copies at once when `data` is not aligned to the element type.
  static HostTensor view(DType dtype, std::vector<std::int64_t> shape, const void* data,
                         std::shared_ptr<const void> owner);

  DType dtype() const { return dtype_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  std::int64_t numel() const { return numel_; }
  std::int64_t bytes() const { return byte_size(dtype_, numel_); }

  const std::byte* data() const { return data_; }
  std::byte* mutable_data();  ///< Unshares first.
  /// Whether the memory is another's (made by view()), which nothing writes to.
  bool is_view() const { return !owned_; }
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(data_), static_cast<std::size_t>(numel_)};
  }
  template <class T>
  std::span<T> as_mutable() {
    return {reinterpret_cast<T*>(mutable_data()), static_cast<std::size_t>(numel_)};
  }

  /// Element `i` of the row-major order, converted; ArgumentError when there is none. Complex elements give their real
  /// part to the real readers.
  double get_f64(std::int64_t i) const;
  /// Exact for integers and bool that fit, else the nearest limit; floats truncate and saturate, NaN is 0.
  std::int64_t get_i64(std::int64_t i) const;
  std::uint64_t get_u64(std::int64_t i) const;
  std::complex<double> get_c128(std::int64_t i) const;
  /// Stores with the conversion rules of DESIGN (nearest even; float to integer saturates, NaN to 0; integers wrap).
  void set_f64(std::int64_t i, double v);
  void set_i64(std::int64_t i, std::int64_t v);
  void set_u64(std::int64_t i, std::uint64_t v);
  void set_c128(std::int64_t i, std::complex<double> v);

  /// Same elements under another shape of equal size.
  HostTensor reshaped(std::vector<std::int64_t> shape) const;
  /// Bitwise equality of dtype, shape and every element.
  bool identical(const HostTensor& other) const;
  friend bool operator==(const HostTensor& a, const HostTensor& b) { return a.identical(b); }
  /// FNV-1a over dtype, shape and elements: the content id of literals.
  std::uint64_t content_hash() const;

 private:
  std::int64_t check_index(std::int64_t i) const;
  template <class F>
  auto read(std::int64_t i, F f) const;
  template <class I>
  void set_integer(std::int64_t i, I v);
  void store_bits(std::int64_t i, std::uint64_t bits);

  DType dtype_ = DType::f32;
  std::vector<std::int64_t> shape_{};
  std::int64_t numel_ = 0;
  std::byte* data_ = nullptr;
  std::shared_ptr<const void> owner_;
  bool owned_ = true;
};

/// Product of dimensions; throws MemoryError on overflow and ArgumentError on a negative one.
RLX_API std::int64_t element_count(std::span<const std::int64_t> shape);

// Bit patterns of the small floats, rounded to nearest even. Overflow gives infinity, or NaN where the type has none
// (e4m3fn).
RLX_API std::uint16_t f16_bits(double v);
RLX_API double f16_value(std::uint16_t bits);
RLX_API std::uint16_t bf16_bits(double v);
RLX_API double bf16_value(std::uint16_t bits);
RLX_API std::uint8_t f8_bits(DType t, double v);
RLX_API double f8_value(DType t, std::uint8_t bits);
/// `v` rounded to the precision and range of `t`, as a double.
RLX_API double round_to(DType t, double v);

}  // namespace rlx

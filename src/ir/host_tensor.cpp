// Storage of HostTensor: allocation, sharing, views, identity. host_tensor_elements.cpp converts the elements.
#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/ir/host_tensor.hpp>
#include <rlx/ir/memory.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include <sys/mman.h>

namespace rlx {

static_assert(std::endian::native == std::endian::little, "elements and content ids are little endian");

namespace {

constexpr std::size_t alignment = 64;  // bytes: a cache line, and the widest vector register

std::string describe(std::span<const std::int64_t> shape) {
  std::string s = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) s += (i ? "," : "") + std::to_string(shape[i]);
  return s + "]";
}
std::string describe(DType dtype, std::span<const std::int64_t> shape) {
  return std::string(name(dtype)) + describe(shape);
}

[[noreturn]] void refuse(const std::string& what, std::uint64_t wanted = std::numeric_limits<std::uint64_t>::max()) {
  throw MemoryError(what, wanted, static_cast<std::uint64_t>(available_memory()));
}

/// Zeroed memory of its own for one tensor; null where there is none. Large blocks are mapped for it: kernels that go
/// through them miss the processor's table of pages at every small one, and memory that malloc gives again consists of
/// small pages that were touched, which advice does not join. They start on different lines, since a load waits for a
/// store that is a multiple of 4 KiB away.
class Block {
 public:
  explicit Block(std::size_t bytes) : bytes_(bytes) {
    if (!is_mapped()) {
      data_ = std::calloc(bytes, 1);
      return;
    }
    bytes_ = (bytes + lines * alignment + huge_page - 1) / huge_page * huge_page + huge_page;
    void* const map = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return;
    map_ = data_ = map;
    std::size_t space = bytes_;
    std::align(huge_page, 1, data_, space);
    ::madvise(data_, space, MADV_HUGEPAGE);  // advice: failing is fine
    static std::atomic<std::size_t> blocks{0};
    data_ = static_cast<std::byte*>(data_) + blocks.fetch_add(1, std::memory_order_relaxed) % lines * alignment;
  }
  void* data() const { return data_; }
  void release() const {
    if (map_) ::munmap(map_, bytes_);
    else std::free(data_);
  }

 private:
  static constexpr std::size_t huge_page = 2u << 20, worth_it = 4u << 20, lines = 64;
  // The sanitizer watches the ends of malloc's blocks only.
#if defined(__SANITIZE_ADDRESS__)
  static constexpr bool watched = true;
#elif defined(__has_feature)
  static constexpr bool watched = __has_feature(address_sanitizer);
#else
  static constexpr bool watched = false;
#endif
  bool is_mapped() const { return bytes_ >= worth_it && !watched; }

  std::size_t bytes_;
  void *map_ = nullptr, *data_ = nullptr;
};

struct Storage {
  std::shared_ptr<const void> owner;
  std::byte* data;
};

Storage allocate(DType dtype, std::span<const std::int64_t> shape, std::int64_t bytes) {
  if (bytes == 0) return {nullptr, nullptr};
  const auto wanted = static_cast<std::uint64_t>(bytes);
  if (bytes >= worth_asking) require_memory("tensor " + describe(dtype, shape), wanted);
  // Not aligned_alloc and memset: large blocks come from the system already zero and untouched.
  std::size_t space = wanted + alignment;
  const Block block(space);
  if (!block.data()) refuse("tensor " + describe(dtype, shape), wanted);
  void* aligned = block.data();
  std::align(alignment, wanted, aligned, space);
  try {
    return {std::shared_ptr<const void>(block.data(), [block](const void*) { block.release(); }),
            static_cast<std::byte*>(aligned)};
  } catch (const std::bad_alloc&) {  // of the control block; shared_ptr has released the block
    refuse("tensor " + describe(dtype, shape), wanted);
  }
}

/// element_count, checked so that byte_size cannot overflow either.
std::int64_t checked_count(DType dtype, std::span<const std::int64_t> shape) {
  const std::int64_t count = element_count(shape);
  if (count > (std::numeric_limits<std::int64_t>::max() - 7) / bit_width(dtype))
    refuse("tensor " + describe(dtype, shape));
  return count;
}

std::size_t natural_alignment(DType t) { return static_cast<std::size_t>(std::max(bit_width(real_of(t)) / 8, 1)); }

}  // namespace

std::int64_t element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  bool empty = false, overflow = false;
  for (std::int64_t d : shape) {
    if (d < 0) throw ArgumentError("shape " + describe(shape) + " has a negative size, " + std::to_string(d));
    empty |= d == 0;
    overflow |= __builtin_mul_overflow(count, d, &count);
  }
  if (empty) return 0;
  if (overflow) refuse("tensor with more than 2^63 elements");
  return count;
}

HostTensor::HostTensor(DType dtype, std::vector<std::int64_t> shape)
    : dtype_(dtype), shape_(std::move(shape)), numel_(checked_count(dtype, shape_)) {
  Storage s = allocate(dtype_, shape_, bytes());
  owner_ = std::move(s.owner);
  data_ = s.data;
}

HostTensor::HostTensor(HostTensor&& other) noexcept { *this = std::move(other); }

HostTensor& HostTensor::operator=(HostTensor&& other) noexcept {
  if (this == &other) return *this;
  dtype_ = std::exchange(other.dtype_, DType::f32);
  shape_ = std::exchange(other.shape_, {});
  numel_ = std::exchange(other.numel_, 0);
  data_ = std::exchange(other.data_, nullptr);
  owner_ = std::exchange(other.owner_, nullptr);
  owned_ = std::exchange(other.owned_, true);
  return *this;
}

HostTensor HostTensor::from(DType dtype, std::vector<std::int64_t> shape, std::span<const double> values) {
  if (checked_count(dtype, shape) != static_cast<std::int64_t>(values.size()))
    throw ArgumentError(counted(values.size(), "value") + " given for " + describe(dtype, shape));
  HostTensor t(dtype, std::move(shape));
  for (std::size_t i = 0; i < values.size(); ++i) t.set_f64(static_cast<std::int64_t>(i), values[i]);
  return t;
}

HostTensor HostTensor::scalar(DType dtype, double value) {
  HostTensor t(dtype, {});
  t.set_f64(0, value);
  return t;
}

HostTensor HostTensor::scalar_i64(DType dtype, std::int64_t value) {
  HostTensor t(dtype, {});
  t.set_i64(0, value);
  return t;
}

HostTensor HostTensor::view(DType dtype, std::vector<std::int64_t> shape, const void* data,
                            std::shared_ptr<const void> owner) {
  HostTensor t;
  t.dtype_ = dtype;
  t.numel_ = checked_count(dtype, shape);
  t.shape_ = std::move(shape);
  if (t.numel_ == 0) return t;
  if (!data) throw ArgumentError("null data given for " + describe(dtype, t.shape_));
  // Nothing writes through it: mutable_data copies what is not owned.
  t.data_ = const_cast<std::byte*>(static_cast<const std::byte*>(data));
  t.owner_ = std::move(owner);
  t.owned_ = false;
  // Tensors in files may lie at any offset, but as<T>() must not hand out misaligned pointers.
  if (reinterpret_cast<std::uintptr_t>(data) % natural_alignment(dtype)) t.mutable_data();
  return t;
}

std::byte* HostTensor::mutable_data() {
  if (!data_) return nullptr;
  if (owned_ && owner_.use_count() == 1) {
    std::atomic_thread_fence(std::memory_order_acquire);  // pairs with the release of a copy dropped in another thread
    return data_;
  }
  Storage s = allocate(dtype_, shape_, bytes());
  std::memcpy(s.data, data_, static_cast<std::size_t>(bytes()));
  owner_ = std::move(s.owner);
  data_ = s.data;
  owned_ = true;
  return data_;
}

std::int64_t HostTensor::check_index(std::int64_t i) const {
  if (i < 0 || i >= numel_)
    throw ArgumentError("element " + std::to_string(i) + " of " + describe(dtype_, shape_) + ", which has " +
                        std::to_string(numel_));
  return i;
}

HostTensor HostTensor::reshaped(std::vector<std::int64_t> shape) const {
  if (checked_count(dtype_, shape) != numel_)
    throw ArgumentError("reshape of " + describe(dtype_, shape_) + " to " + describe(dtype_, shape) +
                        " changes the number of elements");
  HostTensor t = *this;
  t.shape_ = std::move(shape);
  return t;
}

/// The last byte with what is no element cleared: the high nibble behind an odd number of i4.
static std::uint8_t last_byte(DType dtype, std::int64_t numel, std::byte b) {
  return static_cast<std::uint8_t>(b) & (dtype == DType::i4 && numel % 2 ? 0x0F : 0xFF);
}

bool HostTensor::identical(const HostTensor& other) const {
  if (dtype_ != other.dtype_ || shape_ != other.shape_ || numel_ != other.numel_) return false;
  if (numel_ == 0 || data_ == other.data_) return true;
  const auto last = static_cast<std::size_t>(bytes() - 1);
  return std::memcmp(data_, other.data_, last) == 0 &&
         last_byte(dtype_, numel_, data_[last]) == last_byte(dtype_, numel_, other.data_[last]);
}

std::uint64_t HostTensor::content_hash() const {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](std::uint8_t b) { hash = (hash ^ b) * 0x100000001b3u; };
  const auto add_i64 = [&](std::int64_t v) {
    for (int k = 0; k < 64; k += 8) add(static_cast<std::uint8_t>(v >> k));
  };
  // By name, so that adding an element type leaves the ids of old files alone.
  for (char c : name(dtype_)) add(static_cast<std::uint8_t>(c));
  add(0);
  add_i64(rank());
  for (std::int64_t d : shape_) add_i64(d);
  const std::int64_t n = bytes();
  for (std::int64_t i = 0; i + 1 < n; ++i) add(static_cast<std::uint8_t>(data_[i]));
  if (n) add(last_byte(dtype_, numel_, data_[n - 1]));
  return hash;
}

}  // namespace rlx

#include "ops/philox.hpp"

#include "ops/structure.hpp"

namespace rlx::ops {

static Value word(Builder& b, std::uint32_t v) { return constant(b, HostTensor::scalar_i64(DType::u32, v)); }
static Value low_word(Value v) { return convert(v, DType::u32); }
static Value high_word(Value v) {
  const Value by = broadcast(constant(*v.builder, HostTensor::scalar_i64(DType::u64, 32)), v.shape(), {});
  return convert(shift_right_logical(v, by), DType::u32);
}

struct Product {
  Value high, low;
};
static Product wide_product(Value x, std::uint32_t factor) {
  const Value f = constant(*x.builder, HostTensor::scalar_i64(DType::u64, factor));
  const Value p = mul(convert(x, DType::u64), broadcast(f, x.shape(), {}));
  return {high_word(p), low_word(p)};
}

std::array<Value, 4> philox(std::array<Value, 4> x, std::array<Value, 2> key) {
  Builder& b = *x[0].builder;
  const Shape shape = x[0].shape();
  for (int round = 0; round < 10; ++round) {
    if (round > 0) key = {add(key[0], word(b, 0x9E3779B9u)), add(key[1], word(b, 0xBB67AE85u))};
    const Product p = wide_product(x[0], 0xD2511F53u), q = wide_product(x[2], 0xCD9E8D57u);
    const Value k0 = broadcast(key[0], shape, {}), k1 = broadcast(key[1], shape, {});
    x = {logical_xor(logical_xor(q.high, x[1]), k0), q.low, logical_xor(logical_xor(p.high, x[3]), k1), p.low};
  }
  return x;
}

Value philox_words(Value key, Value counter, const Dim& count) {
  Builder& b = *key.builder;
  const Dim blocks = floordiv(count + 3, 4);
  const Value number = add(broadcast(counter, {blocks}, {}), iota(b, DType::u64, {blocks}, 0));
  const Value zero = full(b, DType::u32, {blocks}, 0);
  const std::array<Value, 2> keys{reshape(slice(key, {0}, {1}), {}), reshape(slice(key, {1}, {2}), {})};
  Values columns;
  for (const Value& v : philox({low_word(number), high_word(number), zero, zero}, keys))
    columns.push_back(reshape(v, {blocks, 1}));
  return slice(reshape(concat(columns, 1), {blocks * 4}), {0}, {count});
}

}  // namespace rlx::ops

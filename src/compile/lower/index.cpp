#include "compile/lower/index.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ops/build.hpp>

#include <algorithm>

namespace rlx::compile {

Index Index::of(Value value, std::int64_t extent) {
  Index i;
  if (extent > 1) i.terms_.push_back({value.id, 1, extent});
  return i;
}

std::int64_t Index::lower() const {
  std::int64_t v = constant_;
  for (const Term& t : terms_)
    if (t.coefficient < 0) v += t.coefficient * (t.extent - 1);
  return v;
}

std::int64_t Index::upper() const {
  std::int64_t v = constant_;
  for (const Term& t : terms_)
    if (t.coefficient > 0) v += t.coefficient * (t.extent - 1);
  return v;
}

Index operator+(const Index& a, const Index& b) {
  Index sum(a.constant_ + b.constant_);
  auto i = a.terms_.begin(), j = b.terms_.begin();
  while (i != a.terms_.end() || j != b.terms_.end()) {
    if (j == b.terms_.end() || (i != a.terms_.end() && i->value < j->value)) sum.terms_.push_back(*i++);
    else if (i == a.terms_.end() || j->value < i->value) sum.terms_.push_back(*j++);
    else {
      const Index::Term t{i->value, i->coefficient + j->coefficient, i->extent};
      if (t.coefficient) sum.terms_.push_back(t);
      ++i, ++j;
    }
  }
  return sum;
}

Index operator*(const Index& a, std::int64_t factor) {
  if (factor == 0) return 0;
  Index product = a;
  product.constant_ *= factor;
  for (Index::Term& t : product.terms_) t.coefficient *= factor;
  return product;
}

namespace {

// The part of `i` whose coefficients `divisor` divides, and the rest.
struct Split {
  Index multiple, rest;
};
Split split(const Index& i, std::int64_t divisor, Builder& b) {
  std::int64_t floor = i.constant() / divisor;
  if (i.constant() % divisor < 0) --floor;
  Split s{floor * divisor, i.constant() - floor * divisor};
  for (const Index::Term& t : i.terms()) {
    Index& part = t.coefficient % divisor == 0 ? s.multiple : s.rest;
    part = part + Index::of(b.value(t.value), t.extent) * t.coefficient;
  }
  return s;
}

Index exact_quotient(const Index& i, std::int64_t divisor, Builder& b) {
  Index q(i.constant() / divisor);
  for (const Index::Term& t : i.terms()) q = q + Index::of(b.value(t.value), t.extent) * (t.coefficient / divisor);
  return q;
}

}  // namespace

Value IndexEmitter::number(std::int64_t v) { return ops::constant(b_, HostTensor::scalar_i64(DType::i64, v)); }

Value IndexEmitter::number(Extent e) {
  return e.is_handed_over ? b_.emit1("lir.size", {}, lir::SizeAttrs{e.value}) : number(e.value);
}

Value IndexEmitter::emit(const Index& i) {
  Value sum;
  for (const Index::Term& t : i.terms()) {
    Value v = b_.value(t.value);
    if (t.coefficient != 1) v = b_.emit1("mul", {v, number(t.coefficient)});
    sum = sum ? b_.emit1("add", {sum, v}) : v;
  }
  if (!sum) return number(i.constant());
  return i.constant() ? b_.emit1("add", {sum, number(i.constant())}) : sum;
}

Index IndexEmitter::divide(const Index& i, std::int64_t divisor) {
  if (divisor == 1) return i;
  const Split s = split(i, divisor, b_);
  const Index whole = exact_quotient(s.multiple, divisor, b_);
  if (s.rest.lower() >= 0 && s.rest.upper() < divisor) return whole;
  if (s.rest.lower() >= 0)
    return whole + Index::of(b_.emit1("div", {emit(s.rest), number(divisor)}), s.rest.upper() / divisor + 1);
  return Index::of(b_.emit1("div", {emit(i), number(divisor)}), i.upper() / divisor + 1);
}

Index IndexEmitter::remainder(const Index& i, std::int64_t divisor) {
  if (divisor == 1) return 0;
  const Split s = split(i, divisor, b_);
  if (s.rest.lower() >= 0 && s.rest.upper() < divisor) return s.rest;
  const Index& part = s.rest.lower() >= 0 ? s.rest : i;
  return Index::of(b_.emit1("rem", {emit(part), number(divisor)}), std::min(divisor, part.upper() + 1));
}

Index IndexEmitter::clamped(Value i, Extent extent) {
  const Value low = b_.emit1("max", {i, number(0)});
  const Extent last(std::max<std::int64_t>(extent.value - 1, 0), extent.is_handed_over);
  return Index::of(b_.emit1("min", {low, number(last)}), extent.value);
}

Index IndexEmitter::clamped(const Index& i, Extent extent) {
  if (i.lower() >= 0 && i.upper() < extent.value) return i;
  return clamped(emit(i), extent);
}

Value IndexEmitter::inside(const Index& i, Extent extent) {
  Value result;
  const auto also = [&](Value condition) { result = result ? b_.emit1("and", {result, condition}) : condition; };
  if (i.lower() < 0) also(ops::compare(emit(i), number(0), ops::Direction::ge));
  if (i.upper() >= extent.value) also(ops::compare(emit(i), number(extent), ops::Direction::lt));
  return result ? result : ops::constant(b_, HostTensor::scalar_i64(DType::boolean, 1));
}

std::vector<std::int64_t> row_major_strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0; stride *= shape[i]) strides[i] = stride;
  return strides;
}

Index IndexEmitter::linear(const std::vector<Index>& coordinates, const std::vector<std::int64_t>& shape) {
  const auto strides = row_major_strides(shape);
  Index sum;
  for (std::size_t i = 0; i < shape.size(); ++i) sum = sum + coordinates[i] * strides[i];
  return sum;
}

std::vector<Index> IndexEmitter::coordinates(const Index& linear, const std::vector<std::int64_t>& shape) {
  const auto strides = row_major_strides(shape);
  std::vector<Index> out(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const Index q = divide(linear, std::max<std::int64_t>(strides[i], 1));
    out[i] = q.upper() < shape[i] ? q : remainder(q, std::max<std::int64_t>(shape[i], 1));
  }
  return out;
}

}  // namespace rlx::compile

#include "linalg/ops/common.hpp"

namespace rlx::linalg {

constexpr Operand backward_error_operands[] = {{"a", floating | complex_types, OperandKind::sparse},
                                               {"x", floating | complex_types},
                                               {"b", floating | complex_types}};
constexpr Constraint<NoAttributes> backward_error_constraints[] = {
    {"C1", "a is csr with at least one row",
     [](const NoAttributes&, const Signature& s) { return is_csr(s, 0) && s.less_equal(1, s.sparse(0).shape[0]); }},
    {"C2", "x has an entry for each column of a",
     [](const NoAttributes&, const Signature& s) { return s.same_shape(s.shape(1), {s.sparse(0).shape[1]}); }},
    {"C3", "b has an entry for each row of a",
     [](const NoAttributes&, const Signature& s) { return s.same_shape(s.shape(2), {s.sparse(0).shape[0]}); }},
    {"C4", "all have one dtype", [](const NoAttributes&, const Signature& s) { return one_dtype(s, {0, 1, 2}); }}};

static Types backward_error_infer(const NoAttributes&, const Signature& s) { return {tensor(real_of(s.dtype(1)), {})}; }

static Value largest(Value x) { return ops::reduce_max(ops::abs(x), {0}); }

static Values backward_error_decompose(Builder& b, const NoAttributes&, ValuesIn in) {
  const Values parts = b.emit("sparse.parts", {in[0]});
  const Value norm = ops::reduce_max(ops::segment_reduce(ops::abs(parts[2]), parts[0], ops::Combine::add), {0});
  const Value error = largest(ops::sub(in[2], spmv(in[0], in[1])));
  const Value size = ops::add(ops::mul(norm, largest(in[1])), largest(in[2]));
  const Value zero = ops::scalar(b, size.dtype(), 0);
  // 0 / 0: the zero solution of a zero right side is exact.
  const Value exact =
      ops::logical_and(ops::compare(error, zero, ops::Direction::eq), ops::compare(size, zero, ops::Direction::eq));
  return {ops::select(exact, zero, ops::div(error, ops::select(exact, ops::scalar(b, size.dtype(), 1), size)))};
}

extern const OpDef<NoAttributes> backward_error_op{
    .name = "linalg.backward_error",
    .doc =
        "|b - A x| / (|A| |x| + |b|) in max norms, |A| the largest row sum: the normwise backward error of x (J. Rigal "
        "and "
        "J. Gaches, J. ACM 14, 1967).",
    .operands = backward_error_operands,
    .constraints = backward_error_constraints,
    .infer = backward_error_infer,
    .meaning = Composite<NoAttributes>{backward_error_decompose},
    .vjp = Derived{},
    .jvp = Derived{},
    .batch = Derived{},
    .shard = Never{"sparse values are sharded by rows, which needs the partition of their entries"},
    .cost =
        [](const NoAttributes&, const Signature& s) {
          const SparseType& a = s.sparse(0);
          return Cost{a.entries * 3, a.entries * ((bit_width(a.dtype) + bit_width(a.index)) / 8)};
        },
    .samples = []() -> std::vector<Sample<NoAttributes>> {
      const SparseType a{SparseFormat::csr, DType::f64, DType::i32, {4, 4}, 9},
          z{SparseFormat::csr, DType::c128, DType::i32, {3, 3}, 5};
      SparseType coo = a;
      coo.format = SparseFormat::coo;
      return {sample<NoAttributes>({a, f64({4}), f64({4})}).within(1e-12).without_gradients(),
              sample<NoAttributes>({z, c128({3}), c128({3})}).within(1e-12).without_gradients(),
              sample<NoAttributes>({a, {f64({4}), {0, 0, 0, 0}}, {f64({4}), {0, 0, 0, 0}}})
                  .expects({{0}})
                  .exact()
                  .without_gradients(),
              sample<NoAttributes>({coo, f64({4}), f64({4})}).breaking("C1"),
              sample<NoAttributes>({a, f64({3}), f64({4})}).breaking("C2"),
              sample<NoAttributes>({a, f64({4}), f64({5})}).breaking("C3"),
              sample<NoAttributes>({a, f32({4}), f64({4})}).breaking("C4")};
    }};

}  // namespace rlx::linalg

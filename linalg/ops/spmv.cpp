#include "linalg/ops/common.hpp"

namespace rlx::linalg {

using A = TransposeAttrs;
constexpr Operand spmv_operands[] = {{"a", numbers, OperandKind::sparse}, {"x", numbers}};
constexpr Constraint<A> spmv_constraints[] = {
    {"C1", "a is csr", [](const A&, const Signature& s) { return is_csr(s, 0); }},
    {"C2", "x is [n] or [n, k], where op(a) has n columns",
     [](const A& a, const Signature& s) -> Answer {
       if (s.rank(1) != 1 && s.rank(1) != 2) return Answer::no("rank " + std::to_string(s.rank(1)));
       return s.equal(s.sparse(0).shape[a.mode == Transpose::none ? 1 : 0], s.tensor(1).dim(0));
     }},
    {"C3", "both have one dtype", [](const A&, const Signature& s) { return one_dtype(s, {0, 1}); }},
    {"C4", "op(a) has at least one column",
     [](const A&, const Signature& s) { return s.less_equal(1, s.tensor(1).dim(0)); }}};

static Types spmv_infer(const A& a, const Signature& s) {
  Shape shape = s.shape(1);
  shape[0] = s.sparse(0).shape[a.mode == Transpose::none ? 0 : 1];
  return {tensor(s.dtype(1), shape)};
}

// Rows are sums over the segments that the offsets delimit; the transpose adds each entry's share to its column, in
// order.
static Values spmv_decompose(Builder& b, const A& a, ValuesIn in) {
  const Values parts = b.emit("sparse.parts", {in[0]});
  const auto shares = [&](Value values, Value at) {
    const Value x = ops::take(in[1], at, 0);
    return ops::mul(x.rank() == 1 ? values : ops::broadcast(values, x.shape(), {0}), x);
  };
  if (a.mode == Transpose::none) return {ops::segment_reduce(shares(parts[2], parts[1]), parts[0], ops::Combine::add)};
  const Value values = a.mode == Transpose::conjugate_transpose ? ops::conj(parts[2]) : parts[2];
  const Value updates = shares(values, row_indices(in[0]));
  Shape shape = in[1].shape();
  shape[0] = std::get<SparseType>(in[0].type()).shape[1];
  return {ops::index_add(ops::full(b, in[1].dtype(), shape, 0), parts[1], updates)};
}

static Values spmv_vjp(const VjpCall<A>& c) {
  Values out(2);
  const Value g = c.cotangent[0];
  if (!g) return out;
  const Value a = c.in[0], x = c.in[1];
  if (c.wanted[1]) {
    const Adjoint adjoint = adjoint_of(c.attrs.mode, x.dtype());
    out[1] = spmv(a, adjoint.conjugate ? ops::conj(g) : g, adjoint.mode);
    if (adjoint.conjugate) out[1] = ops::conj(out[1]);
  }
  if (!c.wanted[0]) return out;
  // y = op(A) x moves with A_ij by x_j at y_i, or transposed by x_i at y_j: solve_cotangent gives the negative of that.
  const bool transposed = c.attrs.mode != Transpose::none, conjugate = c.attrs.mode == Transpose::conjugate_transpose;
  const Value w = conjugate ? ops::conj(g) : g, y = conjugate ? ops::conj(x) : x;
  out[0] = solve_cotangent(a, ops::neg(w), y, transposed);
  return out;
}

static Values spmv_jvp(const JvpCall<A>& c) {
  Value out = c.tangent[1] ? spmv(c.in[0], c.tangent[1], c.attrs.mode) : Value{};
  if (c.tangent[0]) {
    const Value moved = spmv(c.tangent[0], c.in[1], c.attrs.mode);
    out = out ? ops::add(out, moved) : moved;
  }
  return {out};
}

extern const OpDef<A> spmv_op{
    .name = "linalg.spmv",
    .doc =
        "Product of a csr matrix, its transpose or its conjugate transpose with a vector, or with each column of a "
        "dense matrix.",
    .operands = spmv_operands,
    .constraints = spmv_constraints,
    .infer = spmv_infer,
    .meaning = Composite<A>{spmv_decompose},
    .vjp = Vjp<A>{spmv_vjp},
    .jvp = spmv_jvp,
    .batch = Derived{},
    .shard = Never{"sparse values are sharded by rows, which needs the partition of their entries"},
    .cost =
        [](const A&, const Signature& s) {
          const SparseType& a = s.sparse(0);
          const std::int64_t value = bit_width(a.dtype) / 8, index = bit_width(a.index) / 8;
          const Dim k = s.rank(1) == 1 ? Dim(1) : s.shape(1)[1];
          return Cost{a.entries * k * 2,
                      a.entries * (value + index) + (a.shape[0] + 1) * index + (a.shape[0] + a.shape[1]) * k * value};
        },
    .samples = []() -> std::vector<Sample<A>> {
      const SparseType a{SparseFormat::csr, DType::f64, DType::i32, {4, 5}, 9},
          z{SparseFormat::csr, DType::c64, DType::i64, {3, 3}, 5};
      SparseType f = a, coo = a;
      f.dtype = DType::f32;
      coo.format = SparseFormat::coo;
      const SparseType no_rows{SparseFormat::csr, DType::f64, DType::i32, {0, 5}, 0},
          no_columns{SparseFormat::csr, DType::f64, DType::i32, {5, 0}, 0};
      SampleOperand full(SparseType{SparseFormat::csr, DType::f64, DType::i32, {2, 3}, 6});
      full.literal = {1, 2, 3, 4, 5, 6};
      return {sample<A>({full, {f64({3}), {1, 1, 2}}}).expects({{9, 21}}).exact(),
              sample<A>({full, {f64({2}), {1, -1}}}, {Transpose::transpose}).expects({{-3, -3, -3}}).exact(),
              sample<A>({no_rows, f64({5})}).without_gradients(),
              sample<A>({a, f64({5})}),
              sample<A>({a, f64({4})}, {Transpose::transpose}),
              sample<A>({f, f32({5})}),
              sample<A>({z, c64({3})}),
              sample<A>({z, c64({3})}, {Transpose::conjugate_transpose}),
              sample<A>({z, c64({3})}, {Transpose::transpose}),
              sample<A>({full, {f64({3, 2}), {1, 0, 1, 1, 2, 0}}}).expects({{9, 2, 21, 5}}).exact(),
              sample<A>({a, f64({5, 3})}),
              sample<A>({a, f64({4, 1})}, {Transpose::transpose}),
              sample<A>({z, c64({3, 2})}, {Transpose::conjugate_transpose}),
              sample<A>({a, f64({5, 0})}).without_gradients(),
              sample<A>({coo, f64({5})}).breaking("C1"),
              sample<A>({a, f64({4})}).breaking("C2"),
              sample<A>({a, f64({4, 2})}).breaking("C2"),
              sample<A>({a, f64({5, 2, 2})}).breaking("C2"),
              sample<A>({a, f32({5})}).breaking("C3"),
              sample<A>({no_columns, f64({0})}).breaking("C4"),
              sample<A>({no_rows, f64({0})}, {Transpose::transpose}).breaking("C4")};
    }};

}  // namespace rlx::linalg

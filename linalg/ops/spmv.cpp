#include "linalg/ops/common.hpp"

namespace rlx::linalg {

using A = TransposeAttrs;
constexpr Operand spmv_operands[] = {{"a", numbers, OperandKind::sparse}, {"x", numbers}};
constexpr Constraint<A> spmv_constraints[] = {
    {"C1", "a is csr", [](const A&, const Signature& s) { return is_csr(s, 0); }},
    {"C2", "x is a vector with an entry for each column of op(a)",
     [](const A& a, const Signature& s) -> Answer {
       if (s.rank(1) != 1) return Answer::no("rank " + std::to_string(s.rank(1)));
       return s.equal(s.sparse(0).shape[a.mode == Transpose::none ? 1 : 0], s.tensor(1).dim(0));
     }},
    {"C3", "both have one dtype", [](const A&, const Signature& s) { return one_dtype(s, {0, 1}); }},
    {"C4", "x has at least one entry",
     [](const A&, const Signature& s) { return s.less_equal(1, s.tensor(1).dim(0)); }}};

static Types spmv_infer(const A& a, const Signature& s) {
  return {tensor(s.dtype(1), {s.sparse(0).shape[a.mode == Transpose::none ? 0 : 1]})};
}

// Rows are sums over the segments that the offsets delimit; the transpose adds each entry's share to its column, in
// order.
static Values spmv_decompose(Builder& b, const A& a, ValuesIn in) {
  const Values parts = b.emit("sparse.parts", {in[0]});
  if (a.mode == Transpose::none)
    return {ops::segment_reduce(ops::mul(parts[2], ops::take(in[1], parts[1], 0)), parts[0], ops::Combine::add)};
  const Value values = a.mode == Transpose::conjugate_transpose ? ops::conj(parts[2]) : parts[2];
  const Value shares = ops::mul(values, ops::take(in[1], row_indices(in[0]), 0));
  const Dim columns = std::get<SparseType>(in[0].type()).shape[1];
  return {ops::index_add(ops::full(b, in[1].dtype(), {columns}, 0), parts[1], shares)};
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
    .doc = "Product of a csr matrix, its transpose or its conjugate transpose with a vector.",
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
          return Cost{a.entries * 2,
                      a.entries * (value + index) + (a.shape[0] + 1) * index + (a.shape[0] + a.shape[1]) * value};
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
              sample<A>({coo, f64({5})}).breaking("C1"),
              sample<A>({a, f64({4})}).breaking("C2"),
              sample<A>({a, f32({5})}).breaking("C3"),
              sample<A>({no_columns, f64({0})}).breaking("C4"),
              sample<A>({no_rows, f64({0})}, {Transpose::transpose}).breaking("C4")};
    }};

}  // namespace rlx::linalg

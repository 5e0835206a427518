#include <rlx/linalg/tensor.hpp>

#include <rlx/catalog.hpp>
#include <rlx/linalg/build.hpp>
#include <rlx/linalg/register.hpp>

namespace rlx::linalg {

void ensure_registered() { extend_default_catalog("linalg", add_to); }

namespace {
template <class F>
Tensor one(const Caller& caller, const Handles& in, const F& f) {
  ensure_registered();
  return Tensor(build(in, [&](Builder&, ValuesIn v) { return Values{f(v)}; }, caller)[0]);
}
}  // namespace

Tensor solve(const Csr& a, const Tensor& b, Here here) {
  return one({"linalg.solve", here}, {a, b}, [](ValuesIn v) { return solve(v[0], v[1]); });
}
Tensor solve(const Tensor& a, const Tensor& b, Here here) {
  return one({"linalg.solve", here}, {a, b}, [](ValuesIn v) { return solve(v[0], v[1]); });
}
Tensor solve_positive_definite(const Csr& a, const Tensor& b, Here here) {
  return one({"linalg.solve_positive_definite", here}, {a, b},
             [](ValuesIn v) { return solve_positive_definite(v[0], v[1]); });
}
Tensor solve_positive_definite(const Tensor& a, const Tensor& b, Here here) {
  return one({"linalg.solve_positive_definite", here}, {a, b},
             [](ValuesIn v) { return solve_positive_definite(v[0], v[1]); });
}
Tensor triangular_solve(const Tensor& a, const Tensor& b, TriangularSolveAttrs attrs, Here here) {
  return one({"linalg.triangular_solve", here}, {a, b},
             [&](ValuesIn v) { return triangular_solve(v[0], v[1], attrs); });
}
Tensor cholesky(const Tensor& a, Here here) {
  return one({"linalg.cholesky", here}, {a}, [](ValuesIn v) { return cholesky(v[0]); });
}

Tensor spmv(const Csr& a, const Tensor& x, Transpose mode, Here here) {
  return one({"linalg.spmv", here}, {a, x}, [&](ValuesIn v) { return spmv(v[0], v[1], mode); });
}
Tensor diagonal(const Csr& a, Here here) {
  return one({"linalg.diagonal", here}, {a}, [](ValuesIn v) { return diagonal(v[0]); });
}
Tensor row_indices(const Csr& a, Here here) {
  return one({"linalg.row_indices", here}, {a}, [](ValuesIn v) { return row_indices(v[0]); });
}

CgResult cg(const Csr& a, const Tensor& b, const Tensor& x0, CgAttrs attrs, Here here) {
  ensure_registered();
  const Handles r = build({a, b, x0},
                          [&](Builder&, ValuesIn v) {
                            const Cg c = cg(v[0], v[1], v[2], attrs);
                            return Values{c.x, c.iterations, c.residual, c.curvature};
                          },
                          {"linalg.cg", here});
  return {Tensor(r[0]), Tensor(r[1]), Tensor(r[2]), Tensor(r[3])};
}
CgResult cg(const Csr& a, const Tensor& b, CgAttrs attrs, Here here) {
  return cg(a, b, zeros_like(b, here), attrs, here);
}

}  // namespace rlx::linalg

// Launches of the sparse direct operators: SuiteSparse through sparse_factor.hpp.
#include "launch_sparse.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/linalg/attributes.hpp>

#include "launch.hpp"
#include "refine.hpp"
#include "sparse_factor.hpp"

namespace rlx::linalg {

namespace {

const SparseType& matrix_of(const LaunchCall& c, std::size_t operand) {
  return std::get<SparseType>(c.instance.signature.types[operand]);
}

template <class Make>
void factor(const LaunchCall& c, Make make) {
  for_csr(c, 0, matrix_of(c, 0), [&]<class T, class Index>(const CsrView<T, Index>& a) {
    std::shared_ptr<const SparseFactor<T>> f = make(a);
    ResourceType type = std::get<ResourceType>(c.instance.results[0]);
    type.provider = f->provider();
    c.made->push_back({std::move(type), std::move(f)});
  });
}

}  // namespace

void launch_sparse_lu(const LaunchCall& c) {
  FactorOptions options;
  options.lu = static_cast<LuProvider>(c.instance.attrs->as<SparseLuAttrs>().library);
  factor(c, [&](const auto& a) { return sparse_lu(a, options); });
}

void launch_sparse_cholesky(const LaunchCall& c) {
  factor(c, [](const auto& a) { return sparse_cholesky(a); });
}

void launch_sparse_solve(const LaunchCall& c) {
  const auto& attrs = c.instance.attrs->as<SparseSolveAttrs>();
  for_csr(c, 0, matrix_of(c, 1), [&]<class T, class Index>(const CsrView<T, Index>& a) {
    const auto& f = *std::static_pointer_cast<const SparseFactor<T>>(c.resources[0].data);
    const std::span<const T> b = input<T>(c, 3);
    const std::span<T> x = output<T>(c, 0);
    if (attrs.refine == 0) f.solve(attrs.mode, b, x);
    else {
      RefineOptions options;
      options.max_iterations = attrs.refine;
      solve_refined(f, a, attrs.mode, b, x, options);
    }
  });
}

void launch_rcond(const LaunchCall& c) {
  const ResourceValue& r = c.resources[0];
  output<double>(c, 0)[0] = r.type.dtype == DType::c128
                                ? std::static_pointer_cast<const SparseFactor<std::complex<double>>>(r.data)->rcond()
                                : std::static_pointer_cast<const SparseFactor<double>>(r.data)->rcond();
}

}  // namespace rlx::linalg

// Launches of the sparse direct operators: SuiteSparse through sparse_factor.hpp.
#include "launch_sparse.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/memory.hpp>
#include <rlx/linalg/attributes.hpp>

#include "launch.hpp"
#include "linalg/explained.hpp"
#include "refine.hpp"
#include "sparse_factor.hpp"

namespace rlx::linalg {

namespace {

const SparseType& matrix_of(const LaunchCall& c, std::size_t operand) {
  return std::get<SparseType>(c.instance.signature.types[operand]);
}

/// The csr matrix starts at buffer `first` and is operand `operand`; make(view, options) factors it.
template <class Make>
void factor(const LaunchCall& c, std::size_t first, std::size_t operand, Make make) {
  FactorOptions options;
  options.available_bytes = static_cast<double>(available_memory());
  if (const auto* attrs = c.instance.attrs->get_if<SparseLuAttrs>()) options.lu = attrs->library;
  for_csr(c, first, matrix_of(c, operand), [&]<class T, class Index>(const CsrView<T, Index>& a) {
    const SparseFactor<T>* previous =
        c.resources.empty() ? nullptr : static_cast<const SparseFactor<T>*>(c.resources[0].data.get());
    std::shared_ptr<const SparseFactor<T>> f = make(a, options, previous);
    ResourceType type = std::get<ResourceType>(c.instance.results[0]);
    type.provider = f->provider();
    c.made->push_back({std::move(type), explained(f, std::string(f->reason()))});
  });
}

constexpr auto by_lu = [](const auto& a, const FactorOptions& o, const auto* previous) {
  return sparse_lu(a, o, previous);
};
constexpr auto by_cholesky = [](const auto& a, const FactorOptions& o, const auto* previous) {
  return sparse_cholesky(a, o, previous);
};

}  // namespace

void launch_sparse_lu(const LaunchCall& c) { factor(c, 0, 0, by_lu); }
void launch_sparse_lu_update(const LaunchCall& c) { factor(c, 0, 1, by_lu); }
void launch_sparse_cholesky(const LaunchCall& c) { factor(c, 0, 0, by_cholesky); }
void launch_sparse_cholesky_update(const LaunchCall& c) { factor(c, 0, 1, by_cholesky); }

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

// The plug-in's inside: one factory a library and element type.
#pragma once
#include "../provider.hpp"

namespace rlx::linalg::suitesparse {

// SuiteSparse calls its 64-bit index SuiteSparse_long; on every Unix that is the type of std::int64_t.
template <class T>
std::unique_ptr<ProviderFactor<T>> make_umfpack(const CscMatrix<T>&, Pivoting, FactorOutcome&);
template <class T>
std::unique_ptr<ProviderFactor<T>> make_klu(const CscMatrix<T>&, Pivoting,
                                            const std::shared_ptr<const CircuitAnalysis>&, FactorOutcome&);
template <class T>
std::unique_ptr<ProviderFactor<T>> make_cholmod(const CscMatrix<T>& upper, FactorOutcome&);
Matching btf_match(std::int64_t n, const std::int64_t* start, const std::int64_t* row);
std::shared_ptr<const CircuitAnalysis> klu_analysis(std::int64_t n, const std::int64_t* start, const std::int64_t* row);

// SuiteSparse's prototypes take pointers to mutable data where they only read.
inline std::int64_t* mutable_ptr(const std::int64_t* p) { return const_cast<std::int64_t*>(p); }
template <class T>
double* as_doubles(const T* p) {
  return const_cast<double*>(reinterpret_cast<const double*>(p));
}

}  // namespace rlx::linalg::suitesparse

// The plug-in's inside: one factory a library, element and index type.
#pragma once
#include "../provider.hpp"

#include <mutex>

namespace rlx::linalg::suitesparse {

// SuiteSparse calls its 64-bit index SuiteSparse_long; on every Unix that is the type of std::int64_t.
template <class T, class Index>
std::unique_ptr<ProviderFactor<T>> make_umfpack(const CscMatrix<T, Index>&, const FactorRequest&, FactorOutcome&);
template <class T, class Index>
std::unique_ptr<ProviderFactor<T>> make_klu(const CscMatrix<T, Index>&, const FactorRequest&, FactorOutcome&);
template <class T>
std::unique_ptr<ProviderFactor<T>> make_cholmod(const CscMatrix<T>& upper, const FactorRequest&, FactorOutcome&);
template <class Index>
Matching btf_match(Index n, const Index* start, const Index* row);
template <class Index>
std::shared_ptr<const CircuitAnalysis> klu_analysis(Index n, const Index* start, const Index* row);

/// Refuses what the analysis says cannot fit; true where it did.
inline bool is_too_large(double wanted_bytes, const FactorRequest& request, FactorOutcome& outcome) {
  const double available = request.available_bytes ? request.available_bytes(wanted_bytes) : wanted_bytes;
  if (wanted_bytes <= available) return false;
  outcome = {.status = FactorStatus::too_large, .wanted_bytes = wanted_bytes, .available_bytes = available};
  return true;
}

/// The storage of at most one factor that is gone, for the next one of its pattern.
template <class Storage>
class Retired {
 public:
  Retired() = default;
  Retired(const Retired&) = delete;
  Retired& operator=(const Retired&) = delete;
  Storage take() const {
    const std::lock_guard lock(mutex_);
    return std::move(held_);
  }
  void put(Storage s) const {
    const std::lock_guard lock(mutex_);
    held_ = std::move(s);
  }

 private:
  mutable std::mutex mutex_;
  mutable Storage held_{};
};

// SuiteSparse's prototypes take pointers to mutable data where they only read.
template <class T>
T* mutable_ptr(const T* p) {
  return const_cast<T*>(p);
}
template <class T>
double* as_doubles(const T* p) {
  return const_cast<double*>(reinterpret_cast<const double*>(p));
}

}  // namespace rlx::linalg::suitesparse

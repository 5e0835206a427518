#include "choose_lu.hpp"

#include <algorithm>
#include <complex>

#include "linalg/digits.hpp"

namespace rlx::linalg {

template <class T, class Index>
LuChoice choose_lu(const SuitesparseTable& table, const CscMatrix<T, Index>& a, LuLibrary asked) {
  constexpr double circuit_flops = 60, dissolved = 0.9;
  if (asked == LuLibrary::umfpack) return {false, "umfpack: no choice was left"};
  if (asked == LuLibrary::klu) return {true, "klu: no choice was left"};
  // The analysis takes up to 7 % of UMFPACK's time where that wins. Large meshes are known without it: all their rows
  // are about equally long, where circuits and networks have some that many others meet.
  constexpr std::int64_t large = 10000;
  constexpr double alike = 4;
  if (a.cols > large) {
    Index longest = 0;
    for (std::size_t j = 1; j < a.start.size(); ++j) longest = std::max(longest, a.start[j] - a.start[j - 1]);
    const double mean = static_cast<double>(a.nnz()) / static_cast<double>(a.cols);
    if (const double times = static_cast<double>(longest) / mean; times <= alike)
      return {false, "umfpack: a large mesh, no row has more than " + digits(times) + " times the mean"};
  }
  auto analysis = table.indexed_by<Index>().analyze_circuit(static_cast<Index>(a.cols), a.start.data(), a.row.data());
  if (!analysis) return {false, "umfpack: klu refuses the pattern"};
  const bool regular = analysis->regular_structure;
  const std::string blocks = analysis->blocks == 1
                                 ? "one block"
                                 : std::to_string(analysis->blocks) + " diagonal blocks, the largest of order " +
                                       std::to_string(analysis->largest_block) + " of " + std::to_string(a.cols);
  const double density = analysis->factor_nnz > 0 ? analysis->flops / analysis->factor_nnz : 0;
  const std::string work = digits(density) + " flops an entry of the factors expected";
  if (density < circuit_flops) return {true, "klu: " + work + ", " + blocks, analysis, regular};
  if (static_cast<double>(analysis->largest_block) < dissolved * static_cast<double>(a.cols) &&
      density < 2 * circuit_flops)
    return {true, "klu: " + blocks + ", " + work, analysis, regular};
  return {false, "umfpack: " + work + ", " + blocks, nullptr, regular};
}

#define RLX_INSTANTIATE(T, I) template LuChoice choose_lu(const SuitesparseTable&, const CscMatrix<T, I>&, LuLibrary);
RLX_INSTANTIATE(double, std::int32_t)
RLX_INSTANTIATE(double, std::int64_t)
RLX_INSTANTIATE(std::complex<double>, std::int32_t)
RLX_INSTANTIATE(std::complex<double>, std::int64_t)
#undef RLX_INSTANTIATE

}  // namespace rlx::linalg

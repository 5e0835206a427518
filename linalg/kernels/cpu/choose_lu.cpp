#include "choose_lu.hpp"

#include <algorithm>
#include <complex>
#include <vector>

#include "linalg/digits.hpp"

namespace rlx::linalg {

template <class T>
LuChoice choose_lu(const SuitesparseTable& table, const CscMatrix<T>& a, LuLibrary asked) {
  constexpr double circuit_flops = 60, dissolved = 0.9;
  if (asked == LuLibrary::umfpack) return {false, "umfpack was asked for", nullptr};
  if (asked == LuLibrary::klu) return {true, "klu was asked for", nullptr};
  // The analysis takes up to 7 % of UMFPACK's time where that wins. Large meshes are known without it: all their rows
  // are about equally long, where circuits and networks have some that many others meet.
  constexpr std::int64_t large = 10000;
  constexpr double alike = 4;
  if (a.cols > large) {
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(a.rows));
    for (const std::int64_t i : a.row) ++lengths[static_cast<std::size_t>(i)];
    const auto longest = static_cast<double>(*std::max_element(lengths.begin(), lengths.end()));
    const double mean = static_cast<double>(a.nnz()) / static_cast<double>(a.rows);
    if (longest <= alike * mean)
      return {false, "umfpack: a large mesh, no row has more than " + digits(longest / mean) + " times the mean",
              nullptr};
  }
  auto analysis = table.analyze_circuit(a.cols, a.start.data(), a.row.data());
  if (!analysis) return {false, "umfpack: klu refuses the pattern", nullptr};
  const std::string blocks = analysis->blocks == 1
                                 ? "one block"
                                 : std::to_string(analysis->blocks) + " diagonal blocks, the largest of order " +
                                       std::to_string(analysis->largest_block) + " of " + std::to_string(a.cols);
  const double density = analysis->factor_nnz > 0 && analysis->flops >= 0 ? analysis->flops / analysis->factor_nnz : -1;
  const std::string work = density < 0 ? "unknown work" : digits(density) + " flops an entry of the factors expected";
  if (density >= 0 && density < circuit_flops) return {true, "klu: " + work + ", " + blocks, analysis};
  if (static_cast<double>(analysis->largest_block) < dissolved * static_cast<double>(a.cols) &&
      density < 2 * circuit_flops)
    return {true, "klu: " + blocks + ", " + work, analysis};
  return {false, "umfpack: " + work + ", " + blocks, nullptr};
}

template LuChoice choose_lu(const SuitesparseTable&, const CscMatrix<double>&, LuLibrary);
template LuChoice choose_lu(const SuitesparseTable&, const CscMatrix<std::complex<double>>&, LuLibrary);

}  // namespace rlx::linalg

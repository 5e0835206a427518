// Sparse operands: a random structure with exactly the entries that the type states, then values by the kind of fill.
#include "api/conformance/fill.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <set>
#include <utility>

namespace rlx::conformance {

using Position = std::pair<std::int64_t, std::int64_t>;
using Complex = std::complex<double>;

namespace {

[[noreturn]] void impossible(const SparseType& t, const char* what) {
  throw ArgumentError("no " + std::string(what) + " structure with the entries of " + to_string(Type(t)));
}

/// Positions that `allowed` admits, as many as asked for, besides those already in `chosen`.
template <class F>
void choose(std::set<Position>& chosen, std::int64_t rows, std::int64_t columns, std::int64_t count, Generator& g,
            F allowed) {
  std::vector<Position> free;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      if (allowed(i, j) && !chosen.count({i, j})) free.emplace_back(i, j);
  if (count < 0 || count > static_cast<std::int64_t>(free.size())) throw ArgumentError("more entries than places");
  for (; count > 0; --count) {
    const auto k = static_cast<std::size_t>(g.below(static_cast<std::int64_t>(free.size())));
    chosen.insert(free[k]);
    free.erase(free.begin() + static_cast<std::ptrdiff_t>(k));
  }
}

std::set<Position> structure(const SparseType& t, Fill fill, Generator& g) {
  const std::int64_t rows = t.shape[0].constant(), columns = t.shape[1].constant(), entries = t.entries.constant();
  std::set<Position> chosen;
  if (fill == Fill::uniform || fill == Fill::distinct) {
    if (entries > rows * columns) impossible(t, "csr");
    choose(chosen, rows, columns, entries, g, [](std::int64_t, std::int64_t) { return true; });
    return chosen;
  }
  if (rows != columns || entries < rows) impossible(t, "square");
  for (std::int64_t i = 0; i < rows; ++i) chosen.insert({i, i});
  if (fill == Fill::positive_definite) {
    if ((entries - rows) % 2) impossible(t, "symmetric");
    choose(chosen, rows, columns, (entries - rows) / 2, g, [](std::int64_t i, std::int64_t j) { return j < i; });
    for (const Position& p : std::set<Position>(chosen)) chosen.insert({p.second, p.first});
  } else {
    const bool lower = fill == Fill::lower_triangular;
    choose(chosen, rows, columns, entries - rows, g,
           [lower](std::int64_t i, std::int64_t j) { return !lower || j < i; });
  }
  return chosen;
}

}  // namespace

HostSparse fill_csr(const SparseType& t, const SampleOperand& o, Generator& g) {
  if (o.fill == Fill::index || o.fill == Fill::permutation || o.fill == Fill::offsets || o.fill == Fill::key)
    throw ArgumentError("a sparse operand cannot be filled that way");
  const std::set<Position> places = structure(t, o.fill, g);
  const auto count = static_cast<std::int64_t>(places.size());
  HostSparse a{t, HostTensor(t.index, {t.shape[0].constant() + 1}), HostTensor(t.index, {count}),
               HostTensor(t.dtype, {count})};
  std::map<Position, std::int64_t> entry;
  for (const Position& p : places) {
    const auto k = static_cast<std::int64_t>(entry.size());
    entry[p] = k;
    a.indices.set_i64(k, p.second);
    a.offsets.set_i64(p.first + 1, a.offsets.get_i64(p.first + 1) + 1);
  }
  for (std::int64_t i = 1; i < a.offsets.numel(); ++i)
    a.offsets.set_i64(i, a.offsets.get_i64(i) + a.offsets.get_i64(i - 1));
  if (!o.literal.empty()) {
    a.values = from_literal(t.dtype, {count}, o.literal);
    return a;
  }
  if (o.fill == Fill::uniform || o.fill == Fill::distinct) {
    fill_tensor(a.values, o, g);
    return a;
  }
  std::vector<double> sums(static_cast<std::size_t>(t.shape[0].constant()), 0.0);
  for (const auto& [p, k] : entry) {
    if (p.first == p.second) continue;
    set_uniform(a.values, k, -1, 1, g);
  }
  if (o.fill == Fill::positive_definite)
    for (const auto& [p, k] : entry)
      if (p.second > p.first) a.values.set_c128(entry.at({p.second, p.first}), std::conj(a.values.get_c128(k)));
  for (const auto& [p, k] : entry)
    if (p.first != p.second) sums[static_cast<std::size_t>(p.first)] += std::abs(a.values.get_c128(k));
  // Dominant diagonals: invertible, and definite where the rest is symmetric (Gershgorin).
  for (const auto& [p, k] : entry)
    if (p.first == p.second)
      a.values.set_c128(
          k, o.fill == Fill::lower_triangular ? g.in(1, 2) : sums[static_cast<std::size_t>(p.first)] + g.in(0.5, 1));
  return a;
}

}  // namespace rlx::conformance

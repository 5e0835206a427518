#include "ir/wording.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace rlx {

std::string shortened(std::string_view name) {
  constexpr std::size_t longest = 60;
  return name.size() <= longest ? std::string(name) : std::string(name.substr(0, longest)) + "...";
}

// Levenshtein distance by the two-row recurrence (Wagner and Fischer, 1974).
static std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replace, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  std::string_view nearest;
  // One letter in three may be wrong: of "cuda" most of "null" is another word.
  std::size_t best = std::min<std::size_t>(4, name.size() / 3 + 1);
  for (const std::string_view k : known)
    // Lengths that differ by more cannot be near, and a name may be as long as a text.
    if (k.size() < name.size() + best && name.size() < k.size() + best)
      if (const std::size_t d = edit_distance(k, name); d < best) best = d, nearest = k;
  return nearest.empty() ? "" : "; did you mean \"" + std::string(nearest) + "\"?";
}

}  // namespace rlx

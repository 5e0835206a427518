#include <rlx/ir/error.hpp>
#include <rlx/ir/registry.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace rlx {

void Registry::add(std::unique_ptr<Op> op) {
  std::string key(op->name());
  if (!ops_.emplace(key, std::move(op)).second) throw ArgumentError("operator \"" + key + "\" is already registered");
}

const Op* Registry::find(std::string_view name) const {
  const auto it = ops_.find(name);
  return it == ops_.end() ? nullptr : it->second.get();
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

const Op& Registry::get(std::string_view name) const {
  if (const Op* op = find(name)) return *op;
  std::string nearest;
  std::size_t best = 4;
  for (const auto& [key, op] : ops_)
    if (const std::size_t d = edit_distance(key, name); d < best) best = d, nearest = key;
  throw ArgumentError("unknown operator \"" + std::string(name) + "\"" +
                      (nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?"));
}

std::vector<const Op*> Registry::all() const {
  std::vector<const Op*> out;
  for (const auto& [key, op] : ops_) out.push_back(op.get());
  return out;
}

}  // namespace rlx

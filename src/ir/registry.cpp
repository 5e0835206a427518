#include "ir/wording.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/registry.hpp>

namespace rlx {

void Registry::add(std::unique_ptr<Op> op) {
  std::string key(op->name());
  if (!ops_.emplace(key, std::move(op)).second) throw ArgumentError("operator \"" + key + "\" is already registered");
}

const Op* Registry::find(std::string_view name) const {
  const auto it = ops_.find(name);
  return it == ops_.end() ? nullptr : it->second.get();
}

const Op& Registry::get(std::string_view name) const {
  if (const Op* op = find(name)) return *op;
  std::vector<std::string_view> known;
  for (const auto& [key, op] : ops_) known.push_back(key);
  throw ArgumentError("unknown operator \"" + shortened(name) + "\"" + did_you_mean(name, known));
}

std::vector<const Op*> Registry::all() const {
  std::vector<const Op*> out;
  for (const auto& [key, op] : ops_) out.push_back(op.get());
  return out;
}

}  // namespace rlx

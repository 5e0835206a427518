// What if, while and scan share.
#pragma once
#include "ops/structure.hpp"

#include <rlx/ir/counted.hpp>

namespace rlx::ops {

inline constexpr std::string_view region_by_region =
    "handled by src/transform: control flow is differentiated region by region";
inline constexpr std::string_view batch_region_by_region =
    "handled by src/transform: control flow is batched region by region";
inline constexpr std::string_view shard_region_by_region =
    "nothing shards regions yet: control flow has its operands whole";
inline constexpr std::string_view cost_of_regions =
    "the cost of control flow is that of its regions, as often as they run";

inline std::string types_text(std::span<const Type> types) {
  std::string s;
  for (const Type& t : types) s += (s.empty() ? "" : ", ") + to_string(t);
  return "(" + s + ")";
}
inline Answer has_regions(const Signature& s, std::size_t n) {
  return s.regions.size() == n ? Answer(true) : Answer::no(counted(s.regions.size(), "region"));
}
inline Answer same_types(std::span<const Type> got, std::span<const Type> wanted) {
  if (std::equal(got.begin(), got.end(), wanted.begin(), wanted.end())) return true;
  return Answer::no(types_text(got) + " is not " + types_text(wanted));
}

}  // namespace rlx::ops

// The methods that solve a sparse system.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace rlx::linalg {

enum class SolveMethod { automatic, lu, cholesky, cg };
inline std::span<const std::string_view> enum_names(SolveMethod) {
  static constexpr std::string_view names[] = {"automatic", "lu", "cholesky", "cg"};
  return names;
}
inline std::string_view name(SolveMethod m) { return enum_names(m)[static_cast<std::size_t>(m)]; }

}  // namespace rlx::linalg

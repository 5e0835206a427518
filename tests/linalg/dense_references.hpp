// The dense cases of shared/reference/linalg/dense: every number as a string of 40 digits.
#pragma once
#include <fstream>
#include <nlohmann/json.hpp>

#include "shared_matrices.hpp"

namespace rlx::linalg::testing {

using nlohmann::json;

inline double number(const json& j) { return std::stod(j.get<std::string>()); }
template <class T>
T element(const json& j) {
  if constexpr (std::is_same_v<T, double>) return number(j);
  else return j.is_array() ? T(number(j[0]), number(j[1])) : T(number(j));
}
template <class T>
std::vector<T> matrix(const json& rows) {
  std::vector<T> m;
  for (const json& row : rows)
    for (const json& e : row) m.push_back(element<T>(e));
  return m;
}
template <class T>
std::vector<T> vector(const json& list) {
  std::vector<T> v;
  for (const json& e : list) v.push_back(element<T>(e));
  return v;
}

inline json load_case(const std::string& name) {
  std::ifstream file(places::shared() / "reference/linalg/dense" / (name + ".json"));
  return json::parse(file);
}

}  // namespace rlx::linalg::testing

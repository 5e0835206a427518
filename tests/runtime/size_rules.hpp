// Rules of src/compile/sizes against loops over the elements that are there: with none of them, some, and all.
#pragma once
#include "runtime/sizes_support.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

namespace rlx::sizes {

// x[n] and m[n, 2] of which the masked elements (rows) are kept: v[k] and rows[k, 2].
struct Kept {
  Doubles v;
  std::vector<Doubles> rows;
};
struct SizeCase {
  std::string name;
  std::function<Values(Value v, Value rows)> body;
  std::function<Results(const Kept&)> expected;
  std::size_t least = 0;  ///< Elements that the case needs.
};
using SharedCase = std::shared_ptr<const SizeCase>;
inline void PrintTo(const SharedCase& c, std::ostream* to) { *to << c->name; }

inline Doubles flat(const std::vector<Doubles>& rows) {
  Doubles out;
  for (const Doubles& r : rows) out.insert(out.end(), r.begin(), r.end());
  return out;
}
inline double total(const Doubles& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
inline double at_or(const Doubles& v, std::size_t i, double other) { return i < v.size() ? v[i] : other; }
inline Value number(Value like, double x) { return ops::scalar(*like.builder, like.dtype(), x); }
inline Value integers(Value like, const Doubles& v) { return ops::constant(*like.builder, vector_of(DType::i32, v)); }
inline Value reals(Value like, const Doubles& v) { return ops::constant(*like.builder, vector_of(DType::f64, v)); }
inline Dim length(Value v) { return v.shape()[0]; }

/// One of the cases of a group of rules. The test is in sizes_rules_test.cpp.
class SizeRules : public ::testing::TestWithParam<SharedCase> {};

inline std::vector<SharedCase> size_params(std::vector<SizeCase> cases) {
  std::vector<SharedCase> all;
  for (SizeCase& c : cases) all.push_back(std::make_shared<const SizeCase>(std::move(c)));
  return all;
}
inline std::string size_name(const ::testing::TestParamInfo<SharedCase>& info) {
  std::string name = info.param->name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

}  // namespace rlx::sizes

// Operands for every elementwise operator on every dtype that it accepts: special values in all pairs, then random
// ones.
#pragma once
#include "kernel_program.hpp"

#include <rlx/ir/host_value.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ir/signature.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace rlx::testing_kernels {

constexpr std::int64_t random_count = 200;

struct ScalarCase {
  const Op* op;
  std::vector<DType> in;
  AnyAttrs attrs;
  DType out{};
  std::string title;
};

inline std::string describe(const ScalarCase& c) {
  std::string s(c.op->name());
  for (DType t : c.in) s.append(" ").append(name(t));
  return s.append(" -> ").append(name(c.out));
}

/// Attributes to try with operands of dtype t; what the operator's constraints refuse is dropped.
inline std::vector<AnyAttrs> attributes(const Op& op) {
  std::vector<AnyAttrs> all;
  if (op.name() == "convert" || op.name() == "bitcast")
    for (int t = 0; t < dtype_count; ++t) all.push_back(ops::DTypeAttrs{static_cast<DType>(t)});
  else if (op.name() == "compare")
    for (auto d : {ops::Direction::eq, ops::Direction::ne, ops::Direction::lt, ops::Direction::le, ops::Direction::gt,
                   ops::Direction::ge})
      all.push_back(ops::CompareAttrs{d});
  else if (op.name() == "reduce_precision")
    for (auto [e, m] : {std::pair{5, 10}, {8, 7}, {4, 3}, {8, 23}, {11, 52}, {2, 1}, {1, 0}, {15, 0}})
      all.push_back(ops::ReducePrecisionAttrs{e, m});
  else all.push_back(op.default_attrs());
  return all;
}

inline std::vector<ScalarCase> cases_of(const Op& op) {
  std::vector<ScalarCase> all;
  for (int t = 0; t < dtype_count; ++t) {
    std::vector<DType> in;
    for (const Operand& o : op.operands()) {
      const auto wanted = static_cast<DType>(t);
      if (o.dtypes.contains(wanted)) in.push_back(wanted);
      else if (o.dtypes.contains(DType::boolean) && &o == op.operands().data())
        in.push_back(DType::boolean);  // a predicate
    }
    if (in.size() != op.operands().size()) continue;
    Types types;
    for (DType d : in) types.emplace_back(TensorType{d, {Dim(4)}});
    const Signature s{types};
    const std::vector<AnyAttrs> choices = attributes(op);
    for (std::size_t a = 0; a < choices.size();
         ++a) {  // iterators of AnyAttrs convert to it, which confuses their comparison
      const AnyAttrs& attrs = choices[a];
      try {
        op.check(attrs, s);
      } catch (const VerifyError&) { continue; }
      ScalarCase c{&op, in, attrs, std::get<TensorType>(op.infer(attrs, s).at(0)).dtype, {}};
      c.title = describe(c);
      all.push_back(c);
    }
  }
  return all;
}

// --- Values.
inline std::vector<double> special_numbers(DType t, bool complex_part) {
  const double inf = INFINITY;
  if (complex_part) return {0, -0.0, 1, -1, 0.5, -2.5, 3, inf, -inf, NAN};
  std::vector<double> v = {0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 1.5, -2.5, 3, -7, 100, inf, -inf, NAN};
  if (t == DType::f64)
    for (double x : {5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -1e300, 1e-300}) v.push_back(x);
  else if (t == DType::f16)
    for (double x : {6e-8, 6.2e-5, 65504., -60000.}) v.push_back(x);
  else
    for (double x : {1.4e-45, 1.1754943508222875e-38, 3.4028234663852886e38, -1e30, 1e-30}) v.push_back(x);
  return v;
}
inline std::vector<std::int64_t> special_integers(DType t) {
  if (t == DType::boolean) return {0, 1};
  const int width = bit_width(t);
  const auto top = static_cast<std::int64_t>(~std::uint64_t{0} >> (65 - width));  // largest signed
  return {0, 1, 2, 3, 5, 7, width - 1, width, -1, -2, -7, top, -top - 1, top - 1};
}

inline std::int64_t special_count(DType t) {
  if (is_complex(t)) {
    const auto n = static_cast<std::int64_t>(special_numbers(t, true).size());
    return n * n;
  }
  if (float8.contains(t)) return 256;
  return static_cast<std::int64_t>(is_floating(t) ? special_numbers(t, false).size() : special_integers(t).size());
}
inline void set_special(HostTensor& x, std::int64_t i, std::int64_t k) {
  const DType t = x.dtype();
  if (is_complex(t)) {
    const std::vector<double> v = special_numbers(t, true);
    const auto n = static_cast<std::int64_t>(v.size());
    x.set_c128(i, {v[static_cast<std::size_t>(k / n)], v[static_cast<std::size_t>(k % n)]});
  } else if (float8.contains(t)) x.mutable_data()[i] = static_cast<std::byte>(k);
  else if (is_floating(t)) x.set_f64(i, special_numbers(t, false)[static_cast<std::size_t>(k)]);
  else x.set_i64(i, special_integers(t)[static_cast<std::size_t>(k)]);
}
inline void set_random(HostTensor& x, std::int64_t i, std::mt19937_64& g) {
  const DType t = x.dtype();
  std::uniform_real_distribution<double> near(-4, 4), unit(-1, 1), exponent(-20, 20);
  auto number = [&] {
    const auto kind = g() % 4;
    return kind == 0   ? near(g)
           : kind == 1 ? unit(g)
           : kind == 2 ? std::ldexp(unit(g), static_cast<int>(exponent(g)))
                       : std::fabs(near(g)) * 4;
  };
  if (is_complex(t)) x.set_c128(i, {g() % 2 ? near(g) : number(), near(g)});
  else if (float8.contains(t)) x.mutable_data()[i] = static_cast<std::byte>(g());
  else if (is_floating(t)) x.set_f64(i, number());
  else x.set_i64(i, static_cast<std::int64_t>(g() >> (g() % 64)));
}

/// Operands: all pairs of special values of the first two (a third takes them in turn), then random ones.
inline std::vector<HostTensor> operands(const ScalarCase& c) {
  std::mt19937_64 g(std::hash<std::string>{}(std::string(c.op->name())));
  std::vector<std::int64_t> counts;
  for (DType t : c.in) counts.push_back(special_count(t));
  const bool pairs = c.in.size() == 2 && !is_complex(c.in[0]);
  const std::int64_t special = c.in.size() == 1 ? counts[0] : pairs ? counts[0] * counts[1] : 500;
  std::vector<HostTensor> all;
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    HostTensor x(c.in[k], {special + random_count});
    for (std::int64_t i = 0; i < special + random_count; ++i) {
      if (i >= special) set_random(x, i, g);
      else if (c.in.size() == 1) set_special(x, i, i);
      else if (pairs) set_special(x, i, k == 0 ? i / counts[1] : i % counts[1]);
      else set_special(x, i, static_cast<std::int64_t>(g() % static_cast<std::uint64_t>(counts[k])));
    }
    all.push_back(x);
  }
  return all;
}

}  // namespace rlx::testing_kernels

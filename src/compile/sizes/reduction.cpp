// Reductions and contractions: padding counts as the neutral element.
#include "compile/count_check.hpp"
#include "compile/sizes/rules.hpp"

#include <rlx/ops/build.hpp>

namespace rlx::compile {

namespace {

Value neutral(const SizedNode& n, ops::Combine kind) { return neutral_of(n.b, kind, n.in[0].dtype()); }

/// Operands that are followed by as many identities.
Values with_identities(const SizedNode& n, const Axes& axes) {
  Values in(n.in.begin(), n.in.end());
  for (std::size_t i = 0; i < in.size() / 2; ++i) in[i] = n.masked(i, axes, n.in[in.size() / 2 + i]);
  return in;
}

}  // namespace

Values bound_reduce(const SizedNode& n) { return n.emit(with_identities(n, n.as<ops::ReduceAttrs>().axes)); }

// Forwards no element sees what comes after it.
Values bound_associative_scan(const SizedNode& n) {
  const auto& a = n.as<ops::AssociativeScanAttrs>();
  return n.emit(a.reverse ? with_identities(n, {a.axis}) : Values(n.in.begin(), n.in.end()));
}

// Ties go to the first, so that no padding wins.
Values bound_arg_reduce(const SizedNode& n) {
  const auto& a = n.as<ops::ArgReduceAttrs>();
  const bool greatest = a.kind == ops::Extremum::max;
  return n.emit(Values{n.masked(0, {a.axis}, neutral(n, greatest ? ops::Combine::max : ops::Combine::min))});
}

Values bound_reduce_window(const SizedNode& n) {
  return n.emit(Values{n.masked(0, n.varying(0), neutral(n, n.as<ops::ReduceWindowAttrs>().kind))});
}

// Both sides: zero times what padding holds may be NaN.
Values bound_dot_general(const SizedNode& n) {
  const auto& a = n.as<ops::DotGeneralAttrs>();
  return n.emit(Values{n.masked(0, a.lhs_contract, 0), n.masked(1, a.rhs_contract, 0)});
}

// Rows after the last group count nowhere, and so do groups in padding once they are empty. Sizes may add up to more
// than the rows: then padding would be summed.
Values bound_ragged_dot(const SizedNode& n) {
  const bool rows = n.as<ops::RaggedDotAttrs>().mode == ops::Ragged::rows;
  if (rows && (n.varies(0, 1) || n.varies(1, 1))) throw SizeRefusal{"the contracted dimension varies"};
  const Value sizes = n.masked(2, {0}, 0);
  // What dispatch says of them knows the rows of the buffer only.
  if (const Dim all = n.shape(0)[0]; n.checked && n.varies(all))
    watch_group_sizes(ops::convert(sizes, DType::i64), n.value(all), group_size_check(n.node, all));
  return rows ? n.emit(Values{n.in[0], n.in[1], sizes})
              : n.emit(Values{n.masked(0, {0}, 0), n.masked(1, {0}, 0), sizes});
}

Values bound_conv(const SizedNode& n) {
  if (!n.varying(1).empty()) throw SizeRefusal{"the kernel varies"};
  Axes spatial = n.varying(0);
  if (!spatial.empty() && spatial.back() + 1 == static_cast<int>(n.shape(0).size()))
    throw SizeRefusal{"the channels vary"};
  if (!spatial.empty() && spatial.front() == 0) spatial.erase(spatial.begin());
  return n.emit(Values{n.masked(0, spatial, 0), n.in[1]});
}

Values bound_fft(const SizedNode& n) {
  if (n.varies(0, static_cast<int>(n.shape(0).size()) - 1)) throw SizeRefusal{"the transformed dimension varies"};
  return n.emit(n.in);
}

}  // namespace rlx::compile

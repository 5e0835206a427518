// Sharding equals the whole: what an operator's rule allows to be cut is cut into two and into four parts, each is
// computed alone, and the parts put together again are compared with the whole.
#include "api/conformance/checks.hpp"
#include "api/conformance/compare.hpp"
#include "api/conformance/pieces.hpp"

#include <rlx/ops/build.hpp>

#include <algorithm>
#include <optional>

namespace rlx::conformance {

namespace {

using Factor = ShardRule::Factor;
using Kind = ShardRule::Kind;
using Tensors = std::vector<HostTensor>;

/// Part `index` of `count` along one factor.
struct Part {
  std::int64_t index, count;
};
struct Range {
  std::int64_t begin, end;
};
Range range_of(std::int64_t length, Part p) { return {length * p.index / p.count, length * (p.index + 1) / p.count}; }

/// The first dimension that follows the factor; -1: none.
int axis_of(const std::vector<int>& factors, int factor) {
  const auto at = std::find(factors.begin(), factors.end(), factor);
  return at == factors.end() ? -1 : static_cast<int>(at - factors.begin());
}

std::optional<Tensors> tensors_of(const HostValues& values) {
  Tensors out;
  for (const HostValue& v : values) {
    if (!std::holds_alternative<HostTensor>(v)) return std::nullopt;
    out.push_back(std::get<HostTensor>(v));
  }
  return out;
}

/// One node of the operator on these operands, by the reference.
Tensors computed(const Instance& i, const Tensors& in, const Registry& registry) {
  Graph g(std::string(i.op->name()));
  Builder b(g, registry);
  Values operands;
  for (std::size_t k = 0; k < in.size(); ++k)
    operands.push_back(b.input(as_declared(type_of(in[k]), i.sample.in[k].type), "x" + std::to_string(k)));
  for (const Value& v : b.emit(i.op->name(), operands, i.sample.attrs, i.sample.regions))
    b.output(v, "y" + std::to_string(g.outputs().size()));
  return *tensors_of(evaluate(g, registry, HostValues(in.begin(), in.end())));
}

/// Partial results put together: by the operator's own region where it has one, by addition else.
Tensors combined(const Instance& i, const Tensors& a, const Tensors& b, const Registry& registry) {
  Tensors out = a;
  Graph g("combine");
  Builder builder(g, registry);
  Values in;
  const bool by_region = !i.sample.regions.empty();
  for (const Tensors* side : {&a, &b})
    for (const HostTensor& x : *side)
      in.push_back(builder.input(by_region ? tensor(x.dtype(), {}) : std::get<TensorType>(type_of(x)),
                                 "x" + std::to_string(in.size())));
  if (!by_region) {
    for (std::size_t k = 0; k < a.size(); ++k) {
      const DType t = in[k].dtype(), wide = numbers.contains(t) ? t : default_accumulator(t);
      const Value sum = ops::add(ops::convert(in[k], wide), ops::convert(in[a.size() + k], wide));
      builder.output(ops::convert(sum, t), "y" + std::to_string(k));
    }
    HostValues arguments(a.begin(), a.end());
    arguments.insert(arguments.end(), b.begin(), b.end());
    return *tensors_of(evaluate(g, registry, arguments));
  }
  // The region may combine in a wider type than that of the results.
  const std::vector<ValueId>& arguments_of = i.graph.region(i.node().regions[0]).arguments;
  Values wide;
  for (std::size_t k = 0; k < in.size(); ++k)
    wide.push_back(ops::convert(in[k], i.graph.tensor_type(arguments_of.at(k)).dtype));
  for (const Value& v : i.sample.regions[0](wide))
    builder.output(ops::convert(v, a.at(g.outputs().size()).dtype()), "y" + std::to_string(g.outputs().size()));
  std::vector<Tensors> elements(out.size());
  for (std::int64_t e = 0; e < out[0].numel(); ++e) {
    HostValues arguments;
    for (const Tensors* side : {&a, &b})
      for (const HostTensor& x : *side)
        arguments.emplace_back(piece_of(x.reshaped({x.numel()}), 0, e, e + 1).reshaped({}));
    const Tensors one = *tensors_of(evaluate(g, registry, arguments));
    for (std::size_t k = 0; k < one.size(); ++k) elements[k].push_back(one[k].reshaped({1}));
  }
  for (std::size_t k = 0; k < out.size(); ++k)
    if (!elements[k].empty()) out[k] = joined(elements[k], 0).reshaped(out[k].shape());
  return out;
}

/// What came of cutting one factor.
struct Cut {
  enum class Kind : std::uint8_t { too_short, sized_by_attributes, compared } kind = Kind::compared;
  std::string difference{};
};

class Cutter {
 public:
  Cutter(const Instance& i, const ShardRule& rule, const Tensors& in, const Tensors& whole, const Registry& registry)
      : i_(i), rule_(rule), in_(in), whole_(whole), registry_(registry) {}

  Cut cut(int factor, std::int64_t count) const {
    const Factor f = rule_.factors.at(static_cast<std::size_t>(factor));
    if (!can_cut(factor, count)) return {Cut::Kind::too_short};
    std::vector<Tensors> parts;
    for (std::int64_t p = 0; p < count; ++p) {
      auto part = result(factor, f, {p, count});
      if (!part) return {Cut::Kind::sized_by_attributes};
      parts.push_back(std::move(*part));
    }
    const std::string what = "factor " + std::to_string(factor) + " in " + std::to_string(count) + " parts: ";
    SampleBase allowed = i_.sample;
    Tensors sum = parts[0];
    if (f.kind == Kind::reduced) {
      for (std::size_t p = 1; p < parts.size(); ++p) sum = combined(i_, sum, parts[p], registry_);
      // Each addition of partial results rounds once more.
      double most = 0;
      for (const HostTensor& y : whole_) most = std::max(most, tolerance(i_.sample, y.dtype()));
      allowed.rtol = static_cast<double>(count) * most;
    }
    for (std::size_t k = 0; k < whole_.size(); ++k) {
      const int axis = axis_of(rule_.results.at(k), factor);
      if (axis < 0 && f.kind != Kind::reduced) {  // Every part has all of this result.
        for (const Tensors& part : parts)
          if (auto d = difference(HostValue(part[k]), HostValue(whole_[k]), allowed); !d.empty())
            return {Cut::Kind::compared, what + d};
        continue;
      }
      Tensors pieces;
      for (const Tensors& part : parts) pieces.push_back(part[k]);
      const HostTensor got = axis < 0 ? sum[k] : joined(pieces, axis);
      if (auto d = difference(HostValue(got), HostValue(whole_[k]), allowed); !d.empty())
        return {Cut::Kind::compared, what + d};
    }
    return {};
  }

 private:
  bool can_cut(int factor, std::int64_t count) const {
    for (std::size_t k = 0; k < in_.size(); ++k)
      if (const int axis = axis_of(rule_.operands.at(k), factor);
          axis >= 0 && in_[k].shape()[static_cast<std::size_t>(axis)] < count)
        return false;
    return true;
  }

  /// The results of one part; nothing where an attribute says a size of the whole. A halo is taken from the neighbours,
  /// and what it made is left out of the results again.
  std::optional<Tensors> result(int factor, const Factor& f, Part p) const {
    Tensors in = in_;
    Range trim{0, 0};  // How much goes at both ends of the results.
    bool cut = false;
    for (std::size_t k = 0; k < in.size(); ++k) {
      const int axis = axis_of(rule_.operands.at(k), factor);
      if (axis < 0) continue;
      const std::int64_t length = in_[k].shape()[static_cast<std::size_t>(axis)];
      const Range r = range_of(length, p);
      const std::int64_t before = std::min<std::int64_t>(f.halo, r.begin),
                         after = std::min(f.halo + r.end, length) - r.end;
      in[k] = piece_of(in_[k], axis, r.begin - before, r.end + after);
      trim = {before, after};
      cut = true;
    }
    if (!cut) return std::nullopt;
    Tensors out;
    try {
      out = computed(i_, in, registry_);
    } catch (const VerifyError&) { return std::nullopt; }
    for (std::size_t k = 0; k < out.size(); ++k) {
      std::vector<std::int64_t> expected = whole_[k].shape();
      if (out[k].rank() != whole_[k].rank()) return std::nullopt;
      if (const int axis = axis_of(rule_.results.at(k), factor); axis >= 0) {
        std::int64_t& length = expected[static_cast<std::size_t>(axis)];
        const Range r = range_of(length, p);
        length = r.end - r.begin;
        out[k] = piece_of(out[k], axis, trim.begin, out[k].shape()[static_cast<std::size_t>(axis)] - trim.end);
      }
      if (out[k].shape() != expected) return std::nullopt;
    }
    return out;
  }

  const Instance& i_;
  const ShardRule& rule_;
  const Tensors &in_, &whole_;
  const Registry& registry_;
};

/// "" where the rule has one list an operand and a result, each of its rank, of factors that there are.
std::string malformed(const ShardRule& r, const Tensors& in, const Tensors& out) {
  const auto fits = [&](const std::vector<std::vector<int>>& lists, const Tensors& of) {
    bool ok = lists.size() == of.size();
    for (std::size_t k = 0; ok && k < of.size(); ++k)
      ok = static_cast<int>(lists[k].size()) == of[k].rank() &&
           std::all_of(lists[k].begin(), lists[k].end(),
                       [&](int f) { return -1 <= f && f < static_cast<int>(r.factors.size()); });
    return ok;
  };
  if (!fits(r.operands, in)) return "the rule's lists do not fit the operands";
  return fits(r.results, out) ? "" : "the rule's lists do not fit the results";
}

void check_one(const Expected& e, const Tensors& in, const Tensors& whole, Collector& out) {
  const Instance& i = *e.instance;
  const Types types = i.operand_types();
  std::vector<RegionType> regions;
  for (RegionId r : i.node().regions)
    regions.push_back({i.graph.types_of(i.graph.region(r).arguments), i.graph.types_of(i.graph.region(r).results)});
  const CaseOf c = case_of(i, "shard", out.device());
  const ShardRule rule = i.op->shard(i.sample.attrs, {types, regions, &i.graph.symbols});
  if (auto why = malformed(rule, in, whole); !why.empty()) return out.add(c, Outcome::failed, std::move(why));
  const Cutter cutter(i, rule, in, whole, out.registry());
  bool any = false, sized = false, may = false;
  for (std::size_t f = 0; f < rule.factors.size(); ++f) {
    if (rule.factors[f].kind == Kind::whole) continue;
    may = true;
    for (const std::int64_t count : {2, 4}) {
      Cut cut = cutter.cut(static_cast<int>(f), count);
      if (!cut.difference.empty()) return out.add(c, Outcome::failed, std::move(cut.difference));
      any = any || cut.kind == Cut::Kind::compared;
      sized = sized || cut.kind == Cut::Kind::sized_by_attributes;
    }
  }
  if (any) out.add(c, Outcome::passed);
  else if (sized) out.skip("shard: an attribute of " + std::string(i.op->name()) + " says a size of the whole");
  else if (may) out.skip("shard: nothing is long enough to be cut");
}

}  // namespace

void check_sharding(std::span<const Expected> expected, Collector& out) {
  for (const Expected& e : expected) {
    if (e.instance->op->shard_rule().kind != RuleKind::given) continue;
    const auto in = tensors_of(e.instance->in), whole = tensors_of(e.values);
    if (!in || !whole) continue;
    const CaseOf c = case_of(*e.instance, "shard", out.device());
    out.guarded(c, [&] { check_one(e, *in, *whole, out); });
  }
}

}  // namespace rlx::conformance

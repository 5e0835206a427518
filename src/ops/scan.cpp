#include "ops/control_flow.hpp"

#include <algorithm>

namespace rlx::ops {

constexpr Operand scan_operands[] = {{"state, sequences and invariants", {}, OperandKind::any, true}};
constexpr Constraint<ScanAttrs> scan_constraints[] = {
    {"C1", "carried >= 0, sequences >= 0, and together they are no more than the operands",
     [](const ScanAttrs& a, const Signature& s) {
       return Answer(a.carried >= 0 && a.sequences >= 0 &&
                     static_cast<std::size_t>(a.carried) + static_cast<std::size_t>(a.sequences) <= s.size());
     }},
    {"C2", "length >= 0", [](const ScanAttrs& a, const Signature& s) { return s.less_equal(0, a.length); }},
    {"C3", "sequences are tensors whose dimension 0 is length",
     [](const ScanAttrs& a, const Signature& s) {
       Answer all = true;
       for (int i = a.carried; i < a.carried + a.sequences; ++i) {
         const auto* t = std::get_if<TensorType>(&s.types[static_cast<std::size_t>(i)]);
         if (!t || t->rank() == 0) return Answer::no("operand " + std::to_string(i));
         all = std::move(all) && s.equal(t->shape[0], a.length);
       }
       return all;
     }},
    {"C4", "one region returns the types of the state, then outputs, which are tensors",
     [](const ScanAttrs& a, const Signature& s) {
       const Answer one = has_regions(s, 1);
       if (one.is_no()) return one;
       const Types& r = s.regions[0].results;
       const auto n = static_cast<std::size_t>(a.carried);
       if (r.size() < n) return Answer::no(types_text(r));
       for (std::size_t i = n; i < r.size(); ++i)
         if (!std::holds_alternative<TensorType>(r[i])) return Answer::no("output " + to_string(r[i]));
       return same_types(std::span(r).first(n), s.types.first(n));
     }}};

static Types scan_infer(const ScanAttrs& a, const Signature& s) {
  Types types = s.regions[0].results;
  for (std::size_t i = static_cast<std::size_t>(a.carried); i < types.size(); ++i) {
    auto& t = std::get<TensorType>(types[i]);
    t = tensor(t.dtype, with_front(a.length, t.shape));
  }
  return types;
}

// Called before constraints are checked.
static std::vector<Types> scan_region_arguments(const ScanAttrs& a, const Signature& s) {
  Types types(s.types.begin(), s.types.end());
  for (int i = a.carried; i < a.carried + a.sequences; ++i) {
    if (i < 0 || static_cast<std::size_t>(i) >= types.size()) continue;
    if (auto* t = std::get_if<TensorType>(&types[static_cast<std::size_t>(i)]); t && t->rank() > 0)
      t->shape.erase(t->shape.begin());
  }
  return {types};
}

static HostTensor scan_element(const HostTensor& x, std::int64_t i) {
  HostTensor e(x.dtype(), Position(x.shape().begin() + 1, x.shape().end()));
  for (std::int64_t j = 0; j < e.numel(); ++j) copy_element(e, j, x, i * e.numel() + j);
  return e;
}

// The trip count is read off what has it as a dimension: `length` may be a symbol.
static HostValues scan_reference(const ScanAttrs& a, const ReferenceCall& c) {
  const auto carried = static_cast<std::size_t>(a.carried), sequences = static_cast<std::size_t>(a.sequences);
  HostValues all(c.in.begin(), c.in.end()), outputs;
  for (std::size_t i = carried; i < c.results.size(); ++i) outputs.push_back(c.make(i));
  const std::int64_t length = sequences > 0      ? c.tensor(carried).shape()[0]
                              : !outputs.empty() ? c.result(carried).shape[0].constant()
                                                 : a.length.constant();
  for (std::int64_t trip = 0; trip < length; ++trip) {
    const std::int64_t i = a.reverse ? length - 1 - trip : trip;
    for (std::size_t k = carried; k < carried + sequences; ++k) all[k] = scan_element(c.tensor(k), i);
    HostValues r = c.region(0, all);
    std::move(r.begin(), r.begin() + a.carried, all.begin());
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const auto& e = std::get<HostTensor>(r[carried + k]);
      for (std::int64_t j = 0; j < e.numel(); ++j)
        copy_element(std::get<HostTensor>(outputs[k]), i * e.numel() + j, e, j);
    }
  }
  all.resize(carried);
  all.insert(all.end(), outputs.begin(), outputs.end());
  return all;
}

extern const OpDef<ScanAttrs> scan_op{
    .name = "scan",
    .doc = "Runs the body once for each element of the sequences, carrying a state and stacking outputs.",
    .operands = scan_operands,
    .constraints = scan_constraints,
    .infer = scan_infer,
    .meaning = Primitive<ScanAttrs>{scan_reference},
    .vjp = Never{region_by_region},
    .jvp = Never{region_by_region},
    .batch = Never{batch_region_by_region},
    .shard = Never{shard_region_by_region},
    .cost = Never{cost_of_regions},
    .samples = []() -> std::vector<Sample<ScanAttrs>> {
      // s' = s * k + e, and outputs the old state.
      const RegionBody horner = [](ValuesIn v) { return Values{add(mul(v[0], v[2]), v[1]), v[0]}; };
      const RegionBody short_of_state = [](ValuesIn) { return Values{}; },
                       wrong = [](ValuesIn v) { return Values{compare(v[0], v[1], Direction::lt)}; };
      const SampleOperand s{f32({}), {0}}, digits{f32({3}), {1, 2, 3}}, ten{f32({}), {10}};
      return {sample<ScanAttrs>({s, digits, ten}, {1, 1, 3, false}).with(horner).expects({{123}, {0, 1, 12}}).exact(),
              sample<ScanAttrs>({s, digits, ten}, {1, 1, 3, true}).with(horner).expects({{321}, {32, 3, 0}}).exact(),
              sample<ScanAttrs>({f64({2}), f64({4, 2}), f64({2})}, {1, 1, 4, false}).with(horner),
              sample<ScanAttrs>({{f32({}), {3}}}, {1, 0, 2, false})
                  .with([](ValuesIn v) { return Values{add(v[0], v[0])}; })
                  .expects({{12}})
                  .exact(),
              sample<ScanAttrs>({s, f32({0}), ten}, {1, 1, 0, false}).with(horner),
              sample<ScanAttrs>({s, digits, ten}, {2, 2, 3, false}).with(horner).breaking("C1"),
              sample<ScanAttrs>({s, ten, ten}, {1, 0, -1, false}).with(horner).breaking("C2"),
              sample<ScanAttrs>({s, digits, ten}, {1, 1, 4, false}).with(horner).breaking("C3"),
              sample<ScanAttrs>({s, ten, ten}, {1, 1, 3, false}).with(horner).breaking("C3"),
              sample<ScanAttrs>({s, digits, ten}, {1, 1, 3, false}).with(short_of_state).breaking("C4"),
              sample<ScanAttrs>({s, digits, ten}, {1, 1, 3, false}).with(wrong).breaking("C4"),
              sample<ScanAttrs>({s, digits, ten}, {1, 1, 3, false}).breaking("regions")};
    },
    .region_arguments = scan_region_arguments};

}  // namespace rlx::ops

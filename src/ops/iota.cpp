#include "ops/elementwise.hpp"
#include "ops/structure.hpp"

namespace rlx::ops {

constexpr Constraint<IotaAttrs> iota_constraints[] = {
    {"C1", "0 <= axis < rank",
     [](const IotaAttrs& a, const Signature&) { return axis_within(a.axis, static_cast<int>(a.shape.size())); }},
    {"C2", "the dtype is an integer, floating-point or complex one",
     [](const IotaAttrs& a, const Signature&) -> Answer { return numbers.contains(a.dtype); }},
    {"C3", "dimensions are not negative", [](const IotaAttrs& a, const Signature& s) -> Answer {
       Answer all = true;
       for (const Dim& d : a.shape) all = std::move(all) && s.less_equal(0, d);
       return all;
     }}};

static HostValues iota_reference(const IotaAttrs& a, const ReferenceCall& c) {
  HostTensor y = c.make();
  std::int64_t inner = 1;
  for (std::size_t d = static_cast<std::size_t>(a.axis) + 1; d < y.shape().size(); ++d) inner *= y.shape()[d];
  for (std::int64_t i = 0; i < y.numel(); ++i) y.set_i64(i, i / inner % y.shape()[static_cast<std::size_t>(a.axis)]);
  return {y};
}

extern const OpDef<IotaAttrs> iota_op{
    .name = "iota",
    .doc = "Counts 0, 1, 2, ... along one dimension.",
    .operands = {},
    .constraints = iota_constraints,
    .infer = [](const IotaAttrs& a, const Signature&) -> Types { return {tensor(a.dtype, a.shape)}; },
    .meaning = Primitive<IotaAttrs>{iota_reference},
    .vjp = Vjp<IotaAttrs>{zero_vjp<IotaAttrs>},
    .jvp = zero_jvp<IotaAttrs>,
    .batch = [](const BatchCall<IotaAttrs>& c) -> Batched { return {c.b.emit("iota", ValuesIn{}, c.attrs), {-1}}; },
    .shard =
        [](const IotaAttrs& a, const Signature&) {  // along the counted dimension a part would need its offset
          ShardRule r;
          r.results = {std::vector<int>(a.shape.size(), -1)};
          for (int d = 0; d < static_cast<int>(a.shape.size()); ++d) {
            if (d == a.axis) continue;
            r.results[0][static_cast<std::size_t>(d)] = static_cast<int>(r.factors.size());
            r.factors.push_back({});
          }
          return r;
        },
    .cost =
        [](const IotaAttrs& a, const Signature&) {
          const Dim n = element_count(a.shape);
          return Cost{n, bytes_of(a.dtype, n)};
        },
    .samples = []() -> std::vector<Sample<IotaAttrs>> {
      return {sample<IotaAttrs>({}, {.dtype = DType::i32, .shape = {3}, .axis = 0}).expects({{0, 1, 2}}).exact(),
              sample<IotaAttrs>({}, {.dtype = DType::f32, .shape = {2, 3}, .axis = 1})
                  .expects({{0, 1, 2, 0, 1, 2}})
                  .exact(),
              sample<IotaAttrs>({}, {.dtype = DType::f64, .shape = {2, 3}, .axis = 0})
                  .expects({{0, 0, 0, 1, 1, 1}})
                  .exact(),
              sample<IotaAttrs>({}, {.dtype = DType::c64, .shape = {2}, .axis = 0}).expects({{0, 0, 1, 0}}).exact(),
              sample<IotaAttrs>({}, {.dtype = DType::u8, .shape = {0, 2}, .axis = 0}).expects({{}}).exact(),
              sample<IotaAttrs>({}, {.dtype = DType::i8, .shape = {2, 300}, .axis = 1}),
              sample<IotaAttrs>({}, {}).breaking("C1"),
              sample<IotaAttrs>({}, {.dtype = DType::boolean, .shape = {2}}).breaking("C2"),
              sample<IotaAttrs>({}, {.shape = {-1}}).breaking("C3"),
              sample<IotaAttrs>({f32({2})}, {.shape = {2}}).breaking("arity")};
    }};

}  // namespace rlx::ops

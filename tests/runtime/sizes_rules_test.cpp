// Each rule of src/compile/sizes, and control flow. Cases of groups of rules are in the files beside.
#include "runtime/size_rules.hpp"

namespace rlx::sizes {

TEST_P(SizeRules, AgreesWithLoopsOverWhatIsThere) {
  const SizeCase& c = *GetParam();
  const Doubles x{1.5, -2, 3.25, 0.5, 3.25, -0.75, 2.5};
  Doubles m;
  for (std::size_t i = 0; i < 14; ++i) m.push_back(static_cast<double>((i * 5) % 14) - 6.5);
  std::vector<Call> calls;
  for (const Flags& keep : {Flags{0, 0, 0, 0, 0, 0, 0}, Flags{0, 1, 0, 0, 0, 0, 0}, Flags{1, 0, 1, 1, 0, 1, 0},
                            Flags{0, 0, 1, 0, 1, 0, 1}, Flags{1, 1, 1, 1, 1, 1, 1}}) {
    Kept kept;
    for (std::size_t i = 0; i < 7; ++i)
      if (keep[i]) kept.v.push_back(x[i]), kept.rows.push_back({m[2 * i], m[2 * i + 1]});
    if (kept.v.size() < c.least) continue;
    calls.push_back({{mask_of(keep), vector_of(DType::f64, x), vector_of(DType::f64, m, {7, 2})}, c.expected(kept)});
  }
  const Graph g = graph_of(calls[0].in, [&](ValuesIn v) {
    const Value at = ops::nonzero(v[0], size());
    return c.body(ops::take(v[1], at, 0), ops::take(v[2], at, 0));
  });
  expect_everywhere(g, calls);
}
namespace {

std::vector<SizeCase> size_control_flow() {
  return {
      {"scan",
       [](Value v, Value rows) {
         // Horner's scheme in 1/2 forwards and, over the rows, backwards; outputs are the states before.
         const auto horner = [](ValuesIn s) {
           const Value x = s[1].rank() ? ops::reduce_sum(s[1], {0}) : s[1];
           return Values{s[0] * 0.5 + x, s[0]};
         };
         const Value zero = number(v, 0);
         Values out = ops::scan({&zero, 1}, {&v, 1}, {}, horner);
         const Values back = ops::scan({&zero, 1}, {&rows, 1}, {}, horner, true);
         out.insert(out.end(), back.begin(), back.end());
         return out;
       },
       [](const Kept& k) {
         double s = 0, t = 0;
         Doubles before, behind(k.v.size());
         for (double x : k.v) before.push_back(s), s = 0.5 * s + x;
         for (std::size_t i = k.v.size(); i-- > 0;) behind[i] = t, t = 0.5 * t + k.rows[i][0] + k.rows[i][1];
         return Results{Doubles{s}, before, Doubles{t}, behind};
       }},
      {"loop and branch",
       [](Value v, Value rows) {
         Builder& b = *v.builder;
         const Value zero = ops::scalar(b, DType::i64, 0);
         // v doubles three times, while the loop adds up what it sees of rows.
         const Values state{zero, v, number(v, 0)};
         Values out = ops::while_(
             state, {&rows, 1},
             [](ValuesIn s) {
               return Values{ops::compare(s[0], ops::scalar(*s[0].builder, DType::i64, 3), ops::Direction::lt)};
             },
             [](ValuesIn s) { return Values{s[0] + 1, s[1] * 2, s[2] + ops::reduce_sum(s[3], {0, 1})}; });
         const Value some = ops::compare(out[2], number(v, 0), ops::Direction::gt);
         const Values branch = ops::if_(
             some, {&out[1], 1}, [](ValuesIn s) { return Values{ops::cumsum(s[0], 0), ops::reduce_sum(s[0], {0})}; },
             [](ValuesIn s) { return Values{s[0], ops::reduce_max(s[0], {0})}; });
         return Values{out[1], out[2], branch[0], branch[1]};
       },
       [](const Kept& k) {
         Doubles y, sums;
         for (double x : k.v) y.push_back(8 * x), sums.push_back((sums.empty() ? 0 : sums.back()) + 8 * x);
         const double seen = 3 * total(flat(k.rows));
         double most = -INFINITY;
         for (double x : y) most = std::max(most, x);
         return seen > 0 ? Results{y, Doubles{seen}, sums, Doubles{total(y)}}
                         : Results{y, Doubles{seen}, y, Doubles{most}};
       }},
  };
}
INSTANTIATE_TEST_SUITE_P(ControlFlow, SizeRules, ::testing::ValuesIn(size_params(size_control_flow())), size_name);

}  // namespace
}  // namespace rlx::sizes

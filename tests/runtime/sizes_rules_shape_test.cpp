// Shapes, pieces and positions of sizes that results introduce.
#include "runtime/size_rules.hpp"

namespace rlx::sizes {
namespace {

std::vector<SizeCase> size_shapes() {
  return {
      {"elementwise", [](Value v, Value rows) { return Values{ops::exp(v) + 1, rows * 2}; },
       [](const Kept& k) {
         Doubles y, z;
         for (double x : k.v) y.push_back(std::exp(x) + 1);
         for (double x : flat(k.rows)) z.push_back(2 * x);
         return Results{y, z};
       }},
      {"count",
       [](Value v, Value) {
         Builder& b = *v.builder;
         return Values{ops::dim_size(b, length(v) * 3 - 1), ops::dim_size(b, floordiv(length(v) - 4, 2)),
                       ops::dim_size(b, mod(length(v) - 4, 3)), ops::iota(b, DType::f64, {length(v), 2}, 0),
                       ops::full(b, DType::f64, {length(v)}, 7)};
       },
       [](const Kept& k) {
         const auto n = static_cast<std::int64_t>(k.v.size());
         Doubles counts;
         for (std::size_t i = 0; i < k.v.size(); ++i) counts.insert(counts.end(), 2, static_cast<double>(i));
         return Results{Doubles{3.0 * n - 1}, Doubles{std::floor((n - 4) / 2.0)},
                        Doubles{static_cast<double>(((n - 4) % 3 + 3) % 3)}, counts, Doubles(k.v.size(), 7)};
       }},
      {"concat",
       [](Value v, Value rows) {
         const Value fixed = reals(v, {-1, -2});
         return Values{ops::concat(Values{v, fixed}, 0), ops::concat(Values{fixed, v}, 0),
                       ops::concat(Values{v, v, fixed}, 0), ops::concat(Values{rows, rows}, 1)};
       },
       [](const Kept& k) {
         Doubles a = k.v, b{-1, -2}, c = k.v, d;
         a.insert(a.end(), {-1, -2});
         b.insert(b.end(), k.v.begin(), k.v.end());
         c.insert(c.end(), k.v.begin(), k.v.end());
         c.insert(c.end(), {-1, -2});
         for (const Doubles& r : k.rows) d.insert(d.end(), {r[0], r[1], r[0], r[1]});
         return Results{a, b, c, d};
       }},
      {"pad",
       [](Value v, Value rows) {
         return Values{ops::pad(v, number(v, 9), {1}, {2}), ops::pad(v, number(v, 9), {1}, {1}, {1}),
                       ops::pad(v, number(v, 9), {2}, {0}), ops::pad(rows, number(v, 9), {0, 1}, {1, 0})};
       },
       [](const Kept& k) {
         Doubles a{9}, b{9}, c{9, 9}, d;
         a.insert(a.end(), k.v.begin(), k.v.end());
         a.insert(a.end(), {9, 9});
         for (std::size_t i = 0; i < k.v.size(); ++i) {
           if (i) b.push_back(9);
           b.push_back(k.v[i]);
         }
         b.push_back(9);
         c.insert(c.end(), k.v.begin(), k.v.end());
         for (const Doubles& r : k.rows) d.insert(d.end(), {9, r[0], r[1]});
         d.insert(d.end(), {9, 9, 9});
         return Results{a, b, c, d};
       },
       1},
      {"slice",
       [](Value v, Value rows) {
         return Values{ops::slice_axis(v, 0, 1, length(v)), ops::slice_axis(v, 0, 0, length(v) - 1),
                       ops::slice(rows, {1, 0}, {length(v), 1}, {2, 1}), ops::slice_axis(v, 0, 0, 2)};
       },
       [](const Kept& k) {
         Doubles odd;
         for (std::size_t i = 1; i < k.v.size(); i += 2) odd.push_back(k.rows[i][0]);
         return Results{Doubles(k.v.begin() + 1, k.v.end()), Doubles(k.v.begin(), k.v.end() - 1), odd,
                        Doubles{k.v[0], k.v[1]}};
       },
       2},
      {"reverse", [](Value v, Value rows) { return Values{ops::reverse(v, {0}), ops::reverse(rows, {0, 1})}; },
       [](const Kept& k) {
         Doubles all = flat(k.rows);
         return Results{Doubles(k.v.rbegin(), k.v.rend()), Doubles(all.rbegin(), all.rend())};
       }},
      {"reshape",
       [](Value v, Value rows) {
         return Values{ops::reshape(rows, {length(v) * 2}), ops::reshape(v, {1, length(v), 1}),
                       ops::reduce_sum(ops::reshape(rows, {length(v) * 2}), {0})};
       },
       [](const Kept& k) { return Results{flat(k.rows), k.v, Doubles{total(flat(k.rows))}}; }},
      {"transpose", [](Value, Value rows) { return Values{ops::transpose(rows, {1, 0})}; },
       [](const Kept& k) {
         Doubles y;
         for (std::size_t j = 0; j < 2; ++j)
           for (const Doubles& r : k.rows) y.push_back(r[j]);
         return Results{y};
       }},
      {"dynamic slices",
       [](Value v, Value) {
         const Value far = ops::scalar(*v.builder, DType::i32, 100), zero = ops::scalar(*v.builder, DType::i32, 0);
         return Values{ops::dynamic_slice(v, {&far, 1}, {2}), ops::dynamic_slice(v, {&zero, 1}, {length(v)}),
                       ops::dynamic_update_slice(v, reals(v, {50, 60}), {&far, 1})};
       },
       [](const Kept& k) {
         Doubles y = k.v;
         y[y.size() - 2] = 50;
         y.back() = 60;
         return Results{Doubles(k.v.end() - 2, k.v.end()), k.v, y};
       },
       2},
  };
}
INSTANTIATE_TEST_SUITE_P(Shape, SizeRules, ::testing::ValuesIn(size_params(size_shapes())), size_name);

}  // namespace
}  // namespace rlx::sizes

// Access by index, and orders, of sizes that results introduce.
#include "runtime/size_rules.hpp"

namespace rlx::sizes {
namespace {

std::vector<SizeCase> size_indexing() {
  return {
      {"sort",
       [](Value v, Value rows) {
         const Value order = ops::iota(*v.builder, DType::i32, {length(v)}, 0);
         const Value broken = ops::select(ops::compare(v, number(v, 2), ops::Direction::gt) /* a NaN among them */,
                                          ops::broadcast(number(v, NAN), v.shape(), {}), v);
         const Values up = ops::sort(Values{broken, order}, {.axis = 0}),
                      down = ops::sort(Values{ops::convert(v, DType::i32), order}, {.axis = 0, .descending = {true}});
         return Values{up[0], up[1], down[0], down[1], ops::sort(Values{rows}, {.axis = 1})[0]};
       },
       [](const Kept& k) {
         std::vector<std::size_t> up(k.v.size());
         std::iota(up.begin(), up.end(), 0u);
         auto down = up;
         const auto key = [&](std::size_t i) { return k.v[i] > 2 ? INFINITY : k.v[i]; };
         std::stable_sort(up.begin(), up.end(), [&](auto i, auto j) { return key(i) < key(j); });
         std::stable_sort(down.begin(), down.end(),
                          [&](auto i, auto j) { return std::trunc(k.v[i]) > std::trunc(k.v[j]); });
         Doubles a, b, c, d, e;
         for (std::size_t i : up) a.push_back(k.v[i] > 2 ? NAN : k.v[i]), b.push_back(static_cast<double>(i));
         for (std::size_t i : down) c.push_back(std::trunc(k.v[i])), d.push_back(static_cast<double>(i));
         for (const Doubles& r : k.rows) e.push_back(std::min(r[0], r[1])), e.push_back(std::max(r[0], r[1]));
         return Results{a, b, c, d, e};
       }},
      {"top_k", [](Value v, Value) { return ops::top_k(v, 2); },
       [](const Kept& k) {
         std::vector<std::size_t> order(k.v.size());
         std::iota(order.begin(), order.end(), 0u);
         std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return k.v[i] > k.v[j]; });
         return Results{Doubles{k.v[order[0]], k.v[order[1]]},
                        Doubles{static_cast<double>(order[0]), static_cast<double>(order[1])}};
       },
       2},
      {"gather",
       [](Value v, Value rows) {
         const Value back = ops::dim_size(*v.builder, length(v) - 1, DType::i32);
         const Value from_end =
             ops::broadcast(back, {length(v)}, {}) - ops::iota(*v.builder, DType::i32, {length(v)}, 0);
         return Values{ops::take(v, from_end, 0), ops::take(rows, from_end, 0),
                       ops::take(rows, integers(v, {1, 0}), 1)};
       },
       [](const Kept& k) {
         Doubles v(k.v.rbegin(), k.v.rend()), swapped;
         const std::vector<Doubles> rows(k.rows.rbegin(), k.rows.rend());
         for (const Doubles& r : k.rows) swapped.push_back(r[1]), swapped.push_back(r[0]);
         return Results{v, flat(rows), swapped};
       }},
      {"scatter",
       [](Value v, Value rows) {
         // Every third place of seven takes what is kept; and what is kept takes three numbers in its last places.
         Builder& b = *v.builder;
         const Value at = ops::rem(ops::iota(b, DType::i32, {length(v)}, 0), ops::full(b, DType::i32, {length(v)}, 3));
         const Value place = ops::broadcast(ops::dim_size(b, length(v) - 1, DType::i32), {1}, {});
         return Values{ops::index_add(ops::full(b, DType::f64, {7}, 1), at, v),
                       ops::index_add(ops::full(b, DType::f64, {7, 2}, 0), at, rows),
                       ops::index_add(v, place, reals(v, {100}))};
       },
       [](const Kept& k) {
         Doubles one(7, 1), two(14, 0), own = k.v;
         for (std::size_t i = 0; i < k.v.size(); ++i) {
           one[i % 3] += k.v[i];
           for (std::size_t j = 0; j < 2; ++j) two[2 * (i % 3) + j] += k.rows[i][j];
         }
         own.back() += 100;
         return Results{one, two, own};
       },
       1},
      {"segment_reduce",
       [](Value v, Value rows) {
         Builder& b = *v.builder;
         const Value half = ops::reshape(ops::dim_size(b, floordiv(length(v), 2)), {1}),
                     all = ops::reshape(ops::dim_size(b, length(v)), {1}),
                     none = ops::constant(b, HostTensor::from(DType::i64, {1}, Doubles{0}));
         const Value ends = ops::iota(b, DType::i64, {length(v) + 1}, 0);
         return Values{ops::segment_reduce(rows, ops::concat(Values{none, half, all}, 0), ops::Combine::add),
                       ops::segment_reduce(v, ends, ops::Combine::max)};
       },
       [](const Kept& k) {
         Doubles sums(4, 0);
         for (std::size_t i = 0; i < k.v.size(); ++i)
           for (std::size_t j = 0; j < 2; ++j) sums[(i < k.v.size() / 2 ? 0 : 2) + j] += k.rows[i][j];
         return Results{sums, k.v};
       }},
  };
}
INSTANTIATE_TEST_SUITE_P(Indexing, SizeRules, ::testing::ValuesIn(size_params(size_indexing())), size_name);

}  // namespace
}  // namespace rlx::sizes

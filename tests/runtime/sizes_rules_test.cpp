// Each rule of src/compile/sizes against loops over the elements that are there: with none of them, some, and all.
#include "runtime/sizes_support.hpp"

#include <algorithm>
#include <numeric>

namespace rlx::sizes {
namespace {

// x[n] and m[n, 2] of which the masked elements (rows) are kept: v[k] and rows[k, 2].
struct Kept {
  Doubles v;
  std::vector<Doubles> rows;
};
struct Case {
  std::string name;
  std::function<Values(Value v, Value rows)> body;
  std::function<Results(const Kept&)> expected;
  std::size_t least = 0;  ///< Elements that the case needs.
};
void PrintTo(const Case& c, std::ostream* to) { *to << c.name; }

Doubles flat(const std::vector<Doubles>& rows) {
  Doubles out;
  for (const Doubles& r : rows) out.insert(out.end(), r.begin(), r.end());
  return out;
}
double total(const Doubles& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
double at_or(const Doubles& v, std::size_t i, double other) { return i < v.size() ? v[i] : other; }
Value number(Value like, double x) { return ops::scalar(*like.builder, like.dtype(), x); }
Value integers(Value like, const Doubles& v) { return ops::constant(*like.builder, vector_of(DType::i32, v)); }
Value reals(Value like, const Doubles& v) { return ops::constant(*like.builder, vector_of(DType::f64, v)); }
Dim length(Value v) { return v.shape()[0]; }

const std::vector<Case>& cases() {
  static const auto& all = *new std::vector<Case>{
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
      {"reduce",
       [](Value v, Value rows) {
         return Values{ops::reduce_sum(v, {0}), ops::reduce_max(v, {0}), ops::reduce_prod(rows, {0}),
                       ops::reduce_sum(rows, {0, 1}), ops::reduce_min(rows, {1})};
       },
       [](const Kept& k) {
         double most = -INFINITY;
         for (double x : k.v) most = std::max(most, x);
         Doubles product{1, 1}, least;
         for (const Doubles& r : k.rows) {
           for (std::size_t j = 0; j < 2; ++j) product[j] *= r[j];
           least.push_back(std::min(r[0], r[1]));
         }
         return Results{Doubles{total(k.v)}, Doubles{most}, product, Doubles{total(flat(k.rows))}, least};
       }},
      {"composites",
       [](Value v, Value rows) {
         return Values{ops::mean(v, {0}), ops::softmax(v, 0), ops::var(rows, {0}), ops::logsumexp(v, {0})};
       },
       [](const Kept& k) {
         const auto n = static_cast<double>(k.v.size());
         double sum = 0;
         for (double x : k.v) sum += std::exp(x);
         Doubles soft, var(2);
         for (double x : k.v) soft.push_back(std::exp(x) / sum);
         for (std::size_t j = 0; j < 2; ++j) {
           double mean = 0;
           for (const Doubles& r : k.rows) mean += r[j] / n;
           for (const Doubles& r : k.rows) var[j] += (r[j] - mean) * (r[j] - mean) / n;
         }
         return Results{Doubles{total(k.v) / n}, soft, var, Doubles{std::log(sum)}};
       },
       1},
      {"prefix sums",
       [](Value v, Value rows) {
         return Values{ops::cumsum(v, 0), ops::cumsum(v, 0, true), ops::cumsum(rows, 0, true, true)};
       },
       [](const Kept& k) {
         Doubles up, down(k.v.size()), behind(2 * k.v.size());
         for (double x : k.v) up.push_back((up.empty() ? 0 : up.back()) + x);
         double s = 0;
         for (std::size_t i = k.v.size(); i-- > 0;) down[i] = s += k.v[i];
         Doubles t{0, 0};
         for (std::size_t i = k.v.size(); i-- > 0;)
           for (std::size_t j = 0; j < 2; ++j) behind[2 * i + j] = t[j], t[j] += k.rows[i][j];
         return Results{up, down, behind};
       }},
      {"arg_reduce",
       [](Value v, Value rows) {
         return Values{ops::arg_reduce(v, 0, ops::Extremum::max), ops::arg_reduce(rows, 0, ops::Extremum::min)};
       },
       [](const Kept& k) {
         const auto most = std::max_element(k.v.begin(), k.v.end()) - k.v.begin();
         Doubles least;
         for (std::size_t j = 0; j < 2; ++j) {
           std::size_t best = 0;
           for (std::size_t i = 1; i < k.rows.size(); ++i)
             if (k.rows[i][j] < k.rows[best][j]) best = i;
           least.push_back(static_cast<double>(best));
         }
         return Results{Doubles{static_cast<double>(most)}, least};
       },
       1},
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
      {"dot_general",
       [](Value v, Value rows) {
         const Value grown = ops::div(ops::full_like(v, 1), v - v);  // infinite in padding as elsewhere
         const Value safe = ops::select(ops::is_finite(grown), grown, v);
         const Value side = reals(v, {1, 2, 3, 4});
         return Values{ops::dot(safe, v), ops::matmul(ops::transpose(rows, {1, 0}), rows),
                       ops::matmul(rows, ops::reshape(side, {2, 2}))};
       },
       [](const Kept& k) {
         double square = 0;
         Doubles gram(4, 0), product;
         for (double x : k.v) square += x * x;
         for (const Doubles& r : k.rows) {
           for (std::size_t i = 0; i < 4; ++i) gram[i] += r[i / 2] * r[i % 2];
           product.push_back(r[0] + 3 * r[1]);
           product.push_back(2 * r[0] + 4 * r[1]);
         }
         return Results{Doubles{square}, gram, product};
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
      {"windows",
       [](Value v, Value) {
         const Value kernel = ops::reshape(reals(v, {1, 10, 100}), {3, 1, 1});
         return Values{
             ops::reduce_window(v, {.kind = ops::Combine::max, .window = {3}, .stride = {2}, .low = {1}, .high = {1}}),
             ops::reshape(ops::conv(ops::reshape(v, {1, length(v), 1}), kernel, {.low = {1}, .high = {1}}),
                          {length(v)})};
       },
       [](const Kept& k) {
         Doubles most, sums;
         const auto n = static_cast<std::int64_t>(k.v.size());
         const auto at = [&](std::int64_t i, double other) {
           return i < 0 ? other : at_or(k.v, static_cast<std::size_t>(i), other);
         };
         for (std::int64_t i = 0; i + 3 <= n + 2; i += 2)
           most.push_back(std::max({at(i - 1, -INFINITY), at(i, -INFINITY), at(i + 1, -INFINITY)}));
         for (std::int64_t i = 0; i < n; ++i) sums.push_back(at(i - 1, 0) + 10 * at(i, 0) + 100 * at(i + 1, 0));
         return Results{most, sums};
       },
       1},
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
      {"ragged_dot",
       [](Value v, Value rows) {
         // The first half of the rows times 2, the others times 3; and the sums of squares of both halves.
         Builder& b = *v.builder;
         const Value half = ops::dim_size(b, floordiv(length(v), 2), DType::i32);
         const Value others = ops::dim_size(b, length(v) - floordiv(length(v), 2), DType::i32);
         const Value sizes = ops::concat(Values{ops::reshape(half, {1}), ops::reshape(others, {1})}, 0);
         const Value scale = ops::reshape(reals(v, {2, 0, 0, 2, 3, 0, 0, 3}), {2, 2, 2});
         const Value column = ops::reshape(v, {length(v), 1});
         return Values{ops::ragged_dot(rows, scale, sizes),
                       ops::ragged_dot(column, column, sizes, {.mode = ops::Ragged::contract})};
       },
       [](const Kept& k) {
         Doubles y, squares{0, 0};
         for (std::size_t i = 0; i < k.v.size(); ++i) {
           const bool first = i < k.v.size() / 2;
           for (double x : k.rows[i]) y.push_back((first ? 2 : 3) * x);
           squares[first ? 0 : 1] += k.v[i] * k.v[i];
         }
         return Results{y, squares};
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
  return all;
}

class SizeRules : public ::testing::TestWithParam<std::size_t> {};

TEST_P(SizeRules, AgreesWithLoopsOverWhatIsThere) {
  const Case& c = cases()[GetParam()];
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
INSTANTIATE_TEST_SUITE_P(Ops, SizeRules, ::testing::Range(std::size_t{0}, cases().size()), [](const auto& info) {
  std::string name = cases()[info.param].name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

}  // namespace
}  // namespace rlx::sizes

// Reductions and contractions of sizes that results introduce.
#include "runtime/size_rules.hpp"

namespace rlx::sizes {
namespace {

std::vector<SizeCase> size_reductions() {
  return {
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
  };
}
INSTANTIATE_TEST_SUITE_P(Reduction, SizeRules, ::testing::ValuesIn(size_params(size_reductions())), size_name);

}  // namespace
}  // namespace rlx::sizes

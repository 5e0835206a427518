// Products and convolutions with elementwise kernels before and behind them, and how many steps they become on cpu.
#pragma once
#include <rlx/ops/build.hpp>

#include <functional>
#include <string>
#include <vector>

namespace rlx {

struct FusedCase {
  const char* name;
  std::vector<TensorType> in;
  std::function<Values(Builder&, ValuesIn)> body;
  std::size_t steps = 1;    ///< Of the program with fusion.
  std::size_t joined = 1;   ///< Steps that hold a call and kernels.
  std::size_t kernels = 1;  ///< That these hold, together.
  double tolerance = 1e-5;
  bool special = false;  ///< NaN and infinities among the inputs.
  std::string note{};    ///< Of the report: why an operand is stored.
};

inline Value relu(Value x) { return ops::max(x, ops::zeros_like(x)); }

inline const std::vector<FusedCase>& fused_cases() {
  static const std::vector<FusedCase> all{
      {"bias_and_relu",
       {f32({70, 90}), f32({90, 110}), f32({110})},
       [](Builder&, ValuesIn x) {
         return Values{relu(ops::add(ops::matmul(x[0], x[1]), ops::broadcast_to(x[2], {70, 110})))};
       }},
      {"flat",  // every operand has the result's shape
       {f32({70, 90}), f32({90, 110}), f32({70, 110})},
       [](Builder&, ValuesIn x) { return Values{ops::tanh(ops::add(ops::matmul(x[0], x[1]), x[2]))}; }},
      {"several_blocks_of_rows",
       {f32({900, 300}), f32({300, 70}), f32({70})},
       [](Builder&, ValuesIn x) {
         return Values{ops::add(ops::matmul(x[0], x[1]), ops::broadcast_to(x[2], {900, 70}))};
       }},
      {"few_rows",  // columns are shared among threads
       {f32({20, 500}), f32({500, 3000}), f32({3000})},
       [](Builder&, ValuesIn x) {
         return Values{relu(ops::add(ops::matmul(x[0], x[1]), ops::broadcast_to(x[2], {20, 3000})))};
       }},
      {"deep",  // several blocks along k
       {f32({40, 5000}), f32({5000, 60}), f32({60})},
       [](Builder&, ValuesIn x) {
         return Values{relu(ops::add(ops::matmul(x[0], x[1]), ops::broadcast_to(x[2], {40, 60})))};
       },
       1,
       1,
       1,
       1e-4},
      {"batch",
       {f32({37, 20, 30}), f32({37, 30, 40}), f32({40})},
       [](Builder&, ValuesIn x) {
         return Values{ops::add(ops::matmul(x[0], x[1]), ops::broadcast_to(x[2], {37, 20, 40}))};
       }},
      {"other_type",
       {f32({70, 90}), f32({90, 110})},
       [](Builder&, ValuesIn x) { return Values{ops::convert(ops::matmul(x[0], x[1]), DType::f64)}; }},
      {"two_results",
       {f32({70, 90}), f32({90, 110}), f32({110})},
       [](Builder&, ValuesIn x) {
         const Value y = ops::matmul(x[0], x[1]);
         return Values{y, relu(y)};
       }},
      {"bf16",
       {tensor(DType::bf16, {70, 90}), tensor(DType::bf16, {90, 110}), tensor(DType::bf16, {110})},
       [](Builder&, ValuesIn x) {
         return Values{relu(ops::add(ops::matmul(x[0], x[1]), ops::broadcast_to(x[2], {70, 110})))};
       },
       1,
       1,
       1,
       0.05},
      {"two_layers",
       {f32({70, 90}), f32({90, 110}), f32({110, 50})},
       [](Builder&, ValuesIn x) { return Values{relu(ops::matmul(relu(ops::matmul(x[0], x[1])), x[2]))}; },
       2,
       2,
       2},
      {"convolution",
       {f32({2, 12, 12, 8}), f32({3, 3, 8, 16}), f32({16})},
       [](Builder&, ValuesIn x) {
         return Values{relu(ops::add(ops::conv(x[0], x[1], {.low = {1, 1}, .high = {1, 1}}),
                                     ops::broadcast_to(x[2], {2, 12, 12, 16})))};
       }},
      {"convolution_in_groups",
       {f32({2, 12, 12, 8}), f32({3, 3, 4, 16}), f32({16})},
       [](Builder&, ValuesIn x) {
         return Values{ops::add(ops::conv(x[0], x[1], {.groups = 2}), ops::broadcast_to(x[2], {2, 10, 10, 16}))};
       }},
      {"transposed",  // reads the product at another place than it writes
       {f32({70, 90}), f32({90, 110})},
       [](Builder&, ValuesIn x) { return Values{relu(ops::transpose(ops::matmul(x[0], x[1]), {1, 0}))}; },
       2,
       0,
       0},
      {"reduced",
       {f32({70, 90}), f32({90, 110})},
       [](Builder&, ValuesIn x) { return Values{ops::reduce_sum(ops::matmul(x[0], x[1]), {1})}; },
       2,
       0,
       0},
      {"another_step_between",  // which the kernel needs: it moves before the call
       {f32({70, 90}), f32({90, 110}), f32({110, 200})},
       [](Builder&, ValuesIn x) {
         const Value y = ops::matmul(x[0], x[1]), sums = ops::reduce_sum(x[2], {1});
         return Values{ops::add(y, ops::broadcast_to(sums, {70, 110}))};
       },
       2},
      {"a_later_kernel",  // of two products; the second moves before the first
       {f32({70, 90}), f32({90, 110}), f32({70, 50}), f32({50, 110})},
       [](Builder&, ValuesIn x) {
         const Value y = ops::matmul(x[0], x[1]), z = ops::matmul(x[2], x[3]);
         return Values{relu(ops::add(y, z))};
       },
       2},
      {"needs_the_whole_product",  // between the product and its reader stands what needs the product
       {f32({70, 90}), f32({90, 110}), f32({110, 110})},
       [](Builder&, ValuesIn x) {
         const Value y = ops::matmul(x[0], x[1]);
         return Values{ops::add(y, ops::matmul(y, x[2]))};
       },
       2},
      {"weights_converted",
       {f32({70, 90}), tensor(DType::bf16, {90, 110})},
       [](Builder&, ValuesIn x) { return Values{ops::matmul(x[0], ops::convert(x[1], DType::f32))}; }},
      {"weights_scaled",
       {f32({70, 500}), tensor(DType::i8, {500, 900}), f32({900})},
       [](Builder&, ValuesIn x) {
         const Value w = ops::mul(ops::convert(x[1], DType::f32), ops::broadcast_to(x[2], {500, 900}));
         return Values{ops::matmul(x[0], w)};
       },
       1,
       1,
       1,
       1e-3},
      {"both_operands_and_epilogue",
       {f32({300, 90}), tensor(DType::bf16, {90, 110}), f32({110})},
       [](Builder&, ValuesIn x) {
         const Value y = ops::matmul(ops::tanh(x[0]), ops::convert(x[1], DType::f32));
         return Values{relu(ops::add(y, ops::broadcast_to(x[2], {300, 110})))};
       },
       1,
       1,
       3},
      {"weights_by_columns",  // rows of both operands run along the depth
       {f32({70, 300}), tensor(DType::bf16, {110, 300})},
       [](Builder&, ValuesIn x) {
         return Values{
             ops::dot_general(x[0], ops::convert(x[1], DType::f32), {.lhs_contract = {1}, .rhs_contract = {1}})};
       }},
      {"two_contracted_dimensions",
       {f32({70, 7, 30}), f32({7, 30, 110})},
       [](Builder&, ValuesIn x) {
         return Values{ops::dot_general(ops::tanh(x[0]), relu(x[1]), {.lhs_contract = {1, 2}, .rhs_contract = {0, 1}})};
       },
       1,
       1,
       2},
      {"made_in_pieces_of_the_depth",
       {f32({40, 5000}), f32({5000, 1000})},
       [](Builder&, ValuesIn x) { return Values{ops::matmul(ops::tanh(x[0]), ops::tanh(x[1]))}; },
       1,
       1,
       2,
       1e-3},
      {"batch_of_made_operands",
       {f32({37, 20, 30}), tensor(DType::f16, {37, 30, 40})},
       [](Builder&, ValuesIn x) { return Values{ops::matmul(ops::tanh(x[0]), ops::convert(x[1], DType::f32))}; },
       1,
       1,
       2},
      {"f64_made",
       {f32({70, 300}), tensor(DType::f64, {300, 410})},
       [](Builder&, ValuesIn x) { return Values{ops::matmul(ops::convert(x[0], DType::f64), ops::tanh(x[1]))}; },
       1,
       1,
       2},
      {"bf16_made",
       {f32({70, 300}), tensor(DType::bf16, {300, 410})},
       [](Builder&, ValuesIn x) { return Values{ops::matmul(ops::convert(x[0], DType::bf16), relu(x[1]))}; },
       1,
       1,
       2,
       0.1},
      {"f16_made",
       {f32({70, 300}), tensor(DType::f16, {300, 410})},
       [](Builder&, ValuesIn x) { return Values{ops::matmul(ops::convert(x[0], DType::f16), relu(x[1]))}; },
       1,
       1,
       2,
       0.02},
      {"i8_made",
       {tensor(DType::i8, {70, 300}), tensor(DType::i8, {300, 410})},
       [](Builder&, ValuesIn x) { return Values{ops::matmul(relu(x[0]), relu(x[1]))}; },
       1,
       1,
       2},
      {"nan_and_infinity",
       {f32({70, 300}), tensor(DType::bf16, {300, 410})},
       [](Builder&, ValuesIn x) { return Values{relu(ops::matmul(relu(x[0]), ops::convert(x[1], DType::f32)))}; },
       1,
       1,
       3,
       1e-4,
       true},
      {"rows_taken",  // positions are read from memory
       {f32({500, 90}), f32({90, 110}), tensor(DType::i32, {70})},
       [](Builder&, ValuesIn x) { return Values{ops::matmul(ops::take(x[0], x[2], 0), x[1])}; }},
      {"read_twice",  // the operand has another reader
       {f32({70, 90}), f32({90, 110})},
       [](Builder&, ValuesIn x) {
         const Value y = ops::tanh(x[0]);
         return Values{y, ops::matmul(y, x[1])};
       },
       2,
       0,
       0},
      {"packed_more_than_once",  // sums in pieces of 1024 columns
       {tensor(DType::bf16, {20, 5000}), tensor(DType::bf16, {5000, 1100})},
       [](Builder&, ValuesIn x) { return Values{ops::matmul(relu(x[0]), x[1])}; },
       2,
       0,
       0,
       0.1,
       false,
       "operand 0 is stored first: it is packed 2 times"},
      {"columns_of_the_first_operand",
       {f32({90, 70}), f32({90, 110})},
       [](Builder&, ValuesIn x) {
         return Values{ops::dot_general(ops::tanh(x[0]), x[1], {.lhs_contract = {0}, .rhs_contract = {0}})};
       },
       2,
       0,
       0,
       1e-5,
       false,
       "operand 0 is stored first: its last dimension"},
  };
  return all;
}

}  // namespace rlx

// What operators make of indices for themselves stays within range: checked mode has nothing to refuse.
#include "sizes_support.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/transform/vjp.hpp>

#include <gtest/gtest.h>

namespace rlx::sizes {

// The last offset is the end of the data, which is no row: the derivative must not count it as one.
TEST(IndexChecks, DerivativeOfSegments) {
  const std::vector<HostTensor> in{vector_of(DType::f64, {1, 2, 3}), vector_of(DType::i32, {0, 1, 1, 3})},
      more{in[0], in[1], vector_of(DType::f64, {10, 20, 30})};
  const Graph sums =
      graph_of(in, [](ValuesIn v) { return Values{ops::segment_reduce(v[0], v[1], ops::Combine::add)}; });
  const Graph back = transform::vjp(sums, catalog().operators);
  for (const std::string& device : devices()) {
    SCOPED_TRACE(device);
    EXPECT_EQ(elements(run(back, more, device, {.checked = true})[1]), (Doubles{10, 30, 30}));
  }
}

// The same where the number of rows is known only at run time: x where the mask is true, in segments.
TEST(IndexChecks, DerivativeOfSegmentsOfASize) {
  const std::vector<HostTensor> in{mask_of({1, 0, 1}), vector_of(DType::f64, {1, 2, 3}),
                                   vector_of(DType::i32, {0, 1, 2})},
      more{in[0], in[1], in[2], vector_of(DType::f64, {10, 20})};
  const Graph sums = graph_of(in, [](ValuesIn v) {
    const Value kept = ops::take(v[1], ops::nonzero(v[0], size()), 0);
    return Values{ops::segment_reduce(kept, v[2], ops::Combine::add)};
  });
  const Graph back = transform::vjp(sums, catalog().operators);
  for (const std::string& device : devices()) {
    SCOPED_TRACE(device);
    EXPECT_EQ(elements(run(back, more, device, {.checked = true})[1]), (Doubles{10, 0, 20}));
  }
}

// By meaning such a segment is empty; whoever made the offsets wants to hear of it.
TEST(IndexChecks, OffsetsOfSegmentsThatDecrease) {
  const std::vector<HostTensor> in{vector_of(DType::f64, {1, 2, 3, 4}), vector_of(DType::i32, {0, 3, 1, 4})};
  const Graph sums =
      graph_of(in, [](ValuesIn v) { return Values{ops::segment_reduce(v[0], v[1], ops::Combine::add)}; });
  for (const std::string& device : devices()) {
    SCOPED_TRACE(device);
    EXPECT_EQ(elements(run(sums, in, device, {.checked = false})[0]), (Doubles{6, 0, 9}));
    try {
      run(sums, in, device, {.checked = true});
      ADD_FAILURE() << "the decreasing offset is not reported";
    } catch (const ArgumentError& e) {
      EXPECT_EQ(std::string(e.what()).find("segment offset, which may not be less than the one before, 1 "), 0u)
          << e.what();
    }
  }
}

}  // namespace rlx::sizes

// What operators make of indices for themselves stays within range: checked mode has nothing to refuse.
#include "sizes_support.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/ir/text.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/transform/vjp.hpp>

#include <gtest/gtest.h>

#include <set>

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
      EXPECT_NE(std::string(e.what()).find("segment offset 1 is out of range"), std::string::npos) << e.what();
      EXPECT_NE(
          std::string(e.what()).find(": expected one that is not less than the one before by the operand offsets"),
          std::string::npos)
          << e.what();
    }
  }
}

// What a refusal says: the bound, the operand, and the node by its name and place, so that two of a kind are told
// apart.
TEST(IndexChecks, SayWhatWasExpectedAndWhere) {
  const auto said = [](const std::string& text, const HostValues& in, const std::string& device) -> std::string {
    const Graph g = parse("rlx 1\n" + text, catalog().operators, "model.rlx", TextLines::remember);
    try {
      runtime::Executable(runtime::open_device(device), g, catalog(), {.checked = true}).run(in);
    } catch (const ArgumentError& e) { return e.what(); }
    return "nothing";
  };
  const HostTensor x = vector_of(DType::f64, {1, 2, 3, 4}), good = vector_of(DType::i32, {0, 3}),
                   bad = vector_of(DType::i32, {0, 5}), offsets = vector_of(DType::i32, {0, 7});
  const std::string gathers =
      "graph f(%x: f64[4], %a: i32[2], %b: i32[2]) {\n"
      "  %y = gather(%x, %a) {collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = "
      "[1]}"
      " : f64[2]\n"
      "  %z = gather(%x, %b) {collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = "
      "[1]}"
      " : f64[2]\n  return %y, %z\n}\n";
  const std::string scatter =
      "graph f(%x: f64[4], %a: i32[1], %u: f64[2]) {\n"
      "  %y = scatter(%x, %a, %u) {update_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 0,"
      " kind = add} : f64[4]\n  return %y\n}\n";
  const std::string segments =
      "graph f(%x: f64[4], %o: i32[2]) {\n  %y = segment_reduce(%x, %o) {kind = add} : f64[1]\n  return %y\n}\n";
  for (const std::string& device : devices()) {
    SCOPED_TRACE(device);
    const std::string out = " is out of range in program \"f\": expected 0 to ";
    EXPECT_EQ(said(gathers, {x, bad, good}, device),
              "gather index 5" + out + "3 by the operand indices of %3 gather (model.rlx:3)");
    EXPECT_EQ(said(gathers, {x, good, bad}, device),
              "gather index 5" + out + "3 by the operand indices of %4 gather (model.rlx:4)");
    EXPECT_EQ(said(scatter, {x, vector_of(DType::i32, {3}), vector_of(DType::f64, {1, 1})}, device),
              "scatter index 3" + out + "2 by the operand indices of %3 scatter (model.rlx:3)");
    EXPECT_EQ(said(segments, {x, offsets}, device),
              "segment offset 7" + out + "4 by the operand offsets of %2 segment_reduce (model.rlx:3)");
  }
}

// In the program a check is attributes like others: a program that is printed and read again refuses in the same words.
TEST(IndexChecks, SayItInAttributes) {
  const std::vector<HostTensor> in{vector_of(DType::f64, {1, 2, 3, 4}), vector_of(DType::i32, {0, 3})};
  const Graph g = graph_of(in, [](ValuesIn v) { return Values{ops::take(v[0] + 1.0, v[1], 0)}; });
  const runtime::Executable e(runtime::open_device("cpu"), g, catalog(), {.checked = true});
  const std::string text = print(e.lir());
  EXPECT_EQ(print(parse(text, catalog().operators)), text);
  std::set<std::string> checked;
  std::size_t checks = 0;
  for (NodeId id : lir::kernels(e.lir()))
    for (NodeId check : lir::checks(e.lir(), e.lir().node(id))) {
      ++checks;
      const auto& a = e.lir().node(check).attrs.as<lir::CheckAttrs>();
      EXPECT_EQ(a.kind, "gather index");
      EXPECT_EQ(a.expected, "0 to 3");
      EXPECT_EQ(a.of, "");
      checked.insert(e.report().rows.at(static_cast<std::size_t>(a.row)).op);
    }
  EXPECT_GT(checks, 0u) << text;
  EXPECT_EQ(checked, std::set<std::string>{"gather"}) << text;
  EXPECT_NE(text.find("lir.check"), std::string::npos);
  EXPECT_NE(text.find("kind = \"gather index\", row = "), std::string::npos) << text;

  Graph unnamed("unnamed");
  Builder b(unnamed, catalog().operators);
  const Value yes = ops::scalar(b, DType::boolean, 1), index = ops::scalar(b, DType::i64, 0);
  EXPECT_THROW(b.emit("lir.check", {yes, index}), VerifyError);
  EXPECT_NO_THROW(b.emit("lir.check", {yes, index}, lir::CheckAttrs{"position"}));
}

}  // namespace rlx::sizes

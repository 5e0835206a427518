// What checked mode refuses of indices, offsets and counts, and what it says; what operators make of indices for
// themselves stays within range.
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

// What a program says in checked mode; "nothing" where it runs.
std::string said_by(const runtime::Executable& e, const std::vector<HostTensor>& in) {
  try {
    e.run(HostValues(in.begin(), in.end()));
  } catch (const ArgumentError& error) { return error.what(); }
  return "nothing";
}

constexpr const char* out_of_range = " is out of range in program \"sized\": expected ";
const std::string refused_count = std::string(out_of_range) + "0 or more by the operand counts of %";

// By meaning a negative size is 0 and groups end where the rows do. Where one ends beyond them, those behind it are
// not to blame.
TEST(IndexChecks, SizesOfGroups) {
  const HostTensor x = vector_of(DType::f64, {1, 2}, {2, 1}), y = vector_of(DType::f64, {1, 10, 100}, {3, 1, 1});
  const struct {
    Doubles sizes, rows;
    std::string refused;
  } cases[] = {{{1, -1, 1}, {1, 200}, "-1"}, {{-5, 1, 0}, {10, 0}, "-5"},
               {{1, 2, 1}, {1, 20}, "2"},    {{2147483647, 2147483647, 0}, {1, 2}, "2147483647"},
               {{0, 2, 0}, {10, 20}, ""},    {{0, 0, 1}, {100, 0}, ""}};
  for (const DType t : {DType::i32, DType::i64}) {
    const auto with = [&](const Doubles& sizes) { return std::vector<HostTensor>{x, y, vector_of(t, sizes)}; };
    const Graph g = graph_of(with({0, 0, 0}), [](ValuesIn v) { return Values{ops::ragged_dot(v[0], v[1], v[2])}; });
    for (const std::string& device : devices()) {
      const runtime::Executable plain(runtime::open_device(device), g, catalog(), {.checked = false}),
          checked(runtime::open_device(device), g, catalog(), {.checked = true});
      for (const auto& c : cases) {
        SCOPED_TRACE(device + " " + c.refused);
        const std::vector<HostTensor> in = with(c.sizes);
        EXPECT_EQ(elements(plain.run(HostValues(in.begin(), in.end()))[0]), c.rows);
        EXPECT_EQ(
            said_by(checked, in),
            c.refused.empty()
                ? "nothing"
                : "group size " + c.refused + out_of_range +
                      "0 to what the groups before it leave of 2 rows by the operand group_sizes of %3 ragged_dot "
                      "(sized.cpp:7)");
      }
    }
  }
}

// The rows are those that a mask leaves: three of four. What follows them is padding, no row.
TEST(IndexChecks, SizesOfGroupsOfSomeRows) {
  const auto with = [](const Doubles& sizes) {
    return std::vector<HostTensor>{mask_of({1, 0, 1, 1}), vector_of(DType::f64, {1, 2, 3, 4}, {4, 1}),
                                   vector_of(DType::f64, {1, 10}, {2, 1}), vector_of(DType::i32, sizes)};
  };
  const Graph g = graph_of(with({1, 2}), [](ValuesIn v) {
    const Value kept = ops::take(v[1], ops::nonzero(v[0], size()), 0);
    return Values{ops::ragged_dot(kept, kept, v[3], {.mode = ops::Ragged::contract}),
                  ops::ragged_dot(kept, ops::reshape(v[2], {2, 1, 1}), v[3])};
  });
  for (const std::string& device : devices()) {
    SCOPED_TRACE(device);
    const runtime::Executable e(runtime::open_device(device), g, catalog(), {.checked = true});
    const std::vector<HostTensor> sound = with({1, 2});
    const HostValues out = e.run(HostValues(sound.begin(), sound.end()));
    EXPECT_EQ(elements(out[0]), (Doubles{1, 9 + 16}));
    EXPECT_EQ(elements(out[1]), (Doubles{1, 30, 40}));
    const HostValues cut = run(g, with({1, 3}), device);
    EXPECT_EQ(elements(cut[0]), (Doubles{1, 9 + 16}));
    EXPECT_EQ(elements(cut[1]), (Doubles{1, 30, 40}));
    const std::string said = said_by(e, with({1, 3}));
    EXPECT_TRUE(
        said.starts_with("group size 3" + std::string(out_of_range) + "0 to what the groups before it leave of "))
        << said;
    EXPECT_NE(said.find(" ragged_dot (sized.cpp:7)"), said.npos) << said;
  }
}

// Of a number, of a size without a bound, and of one with; the last operand's length is a size as well.
TEST(IndexChecks, CountsOfRepeat) {
  const auto with = [](const Doubles& counts) {
    return std::vector<HostTensor>{vector_of(DType::i32, counts), mask_of({1, 1, 0, 1})};
  };
  const struct {
    std::function<Values(ValuesIn)> body;
    Doubles owners;  ///< For the counts 2, -4, 9, 1.
  } cases[] = {
      {[](ValuesIn v) { return Values{ops::repeat(ops::slice(v[0], {0}, {2}), 3)[0]}; }, {0, 0, -1}},
      {[](ValuesIn v) { return Values{ops::repeat(v[0], size())[0]}; }, {0, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3}},
      {[](ValuesIn v) { return Values{ops::repeat(v[0], size(), DType::i64, 12)[0]}; },
       {0, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3}},
      {[](ValuesIn v) {
         return Values{ops::repeat(ops::take(v[0], ops::nonzero(v[1], size()), 0), size("m"), DType::i32, 4)[0]};
       },
       {0, 0, 2}},
      {[](ValuesIn v) { return Values{ops::repeat(ops::take(v[0], ops::nonzero(v[1], size()), 0), 5)[0]}; },
       {0, 0, 2, -1, -1}}};
  for (const auto& c : cases) {
    const Graph g = graph_of(with({2, -4, 9, 1}), c.body);
    for (const std::string& device : devices()) {
      SCOPED_TRACE(device + " " + std::to_string(&c - cases));
      EXPECT_EQ(elements(run(g, with({2, -4, 9, 1}), device)[0]), c.owners);
      const runtime::Executable e(runtime::open_device(device), g, catalog(), {.checked = true});
      const std::string said = said_by(e, with({2, -4, 9, 1}));
      EXPECT_TRUE(said.starts_with("repeat count -4" + refused_count)) << said;
      EXPECT_NE(said.find(" repeat (sized.cpp:7)"), said.npos) << said;
      EXPECT_EQ(said_by(e, with({1, 0, 2, 1})), "nothing");
    }
  }
}

// Inside a loop each trip is looked at.
TEST(IndexChecks, CountsInRegions) {
  const auto with = [](double count) {
    return std::vector<HostTensor>{vector_of(DType::i32, {2, 1, 3}), vector_of(DType::i32, {count})};
  };
  const Graph g = graph_of(with(1), [](ValuesIn v) {
    const Values state{ops::scalar(*v[0].builder, DType::i32, 0)};
    return ops::scan(state, {&v[0], 1}, {&v[1], 1}, [](ValuesIn s) {
      const Value two = ops::concat(Values{ops::reshape(s[1], {1}), s[2]}, 0);
      return Values{s[0] + ops::reduce_sum(ops::repeat(two, 8)[0], {0})};
    });
  });
  for (const std::string& device : devices()) {
    SCOPED_TRACE(device);
    const runtime::Executable e(runtime::open_device(device), g, catalog(), {.checked = true});
    EXPECT_EQ(said_by(e, with(1)), "nothing");
    const std::string said = said_by(e, with(-7));
    EXPECT_TRUE(said.starts_with("repeat count -7" + refused_count)) << said;
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

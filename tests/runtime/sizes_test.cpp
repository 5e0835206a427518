// Sizes that results introduce, from text to results: what is refused, what is reported, and derivatives.
#include "runtime/sizes_support.hpp"

#include <rlx/compile/report.hpp>
#include <rlx/ir/located.hpp>
#include <rlx/ir/text.hpp>
#include <rlx/transform/jvp.hpp>
#include <rlx/transform/simplify.hpp>
#include <rlx/transform/vjp.hpp>
#include <rlx/transform/vmap.hpp>

#include <algorithm>
#include <map>

namespace rlx::sizes {
namespace {

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) { return e.type() + ": " + e.what(); }
  return "accepted";
}
void expect_holds(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& p : parts) EXPECT_NE(text.find(p), std::string::npos) << p << " in\n" << text;
}

const std::string pairs_text = R"(rlx 1
graph pairs(%0 "mask": bool[6], %1 "counts": i32[4]) symbols(j in [0, 12], k) {
  %2 = nonzero(%0) {size = k, index = i64} : i64[k]
  %3, %4 = repeat(%1) {size = j} : i32[j], i32[j]
  return %2 "at", %3 "owner", %4 "rank"
}
)";

TEST(Sizes, TextHasTheSymbolThatANodeIntroduces) {
  const Graph g = parse(pairs_text, registry(), "pairs.rlx");
  verify(g, Level::hir);
  const std::string text = print(g, {.locations = false});
  EXPECT_EQ(print(parse(text, registry(), "again"), {.locations = false}), text);
  EXPECT_EQ(size_nodes(g).size(), 2u);
  expect_everywhere(
      g, {{{mask_of({0, 1, 1, 0, 0, 1}), vector_of(DType::i32, {2, 0, 0, 3})},
           {{1, 2, 5}, {0, 0, 3, 3, 3}, {0, 1, 0, 1, 2}}},
          {{mask_of(Flags(6)), vector_of(DType::i32, {0, 0, 0, 0})}, {{}, {}, {}}},
          {{mask_of(Flags(6, true)), vector_of(DType::i32, {3, 3, 3, 3})},
           {{0, 1, 2, 3, 4, 5}, {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}, {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}}}});
}

std::string refused_text(const std::string& input, const std::string& symbols, const std::string& body) {
  return refusal([&] {
    verify(parse("rlx 1\ngraph g(%0 \"m\": " + input + ") symbols(" + symbols + ") {\n" + body + "}\n", registry(),
                 "g.rlx"),
           Level::hir);
  });
}

TEST(Sizes, VerifierRefusesASizeOutOfPlace) {
  const std::string node = "  %1 = nonzero(%0) {size = k} : i32[k]\n", end = "  return %1 \"y\"\n";
  EXPECT_EQ(refused_text("bool[4]", "k", node + end), "accepted");
  expect_holds(refused_text("bool[4]", "k", "  %2 = iota() {shape = [k]} : i32[k]\n" + node + end),
               {"VerifyError", "size k before the node that introduces it"});
  expect_holds(refused_text("bool[4]", "k", "  %2 = nonzero(%0) {size = k} : i32[k]\n" + node + end),
               {"VerifyError", "size k is introduced by another node already"});
  expect_holds(refused_text("bool[4]", "k", "  %2 = dim_size() {size = k} : i64[]\n" + node + end),
               {"VerifyError", "an attribute depends on size k"});
  expect_holds(refused_text("bool[k]", "k", node + end), {"VerifyError", "input %0 depends on size k"});
  expect_holds(refused_text("bool[4]", "k mod 4", node + end), {"VerifyError", "size k cannot have a divisor"});
}

TEST(Sizes, ACountBeyondItsBoundIsAnErrorThatNamesIt) {
  const std::vector<HostTensor> few{vector_of(DType::i32, {1, 2, 0})}, many{vector_of(DType::i32, {5, 2, 2})};
  const Graph g = graph_of(few, [](ValuesIn in) {
    Builder& b = *in[0].builder;
    return Values{ops::repeat(in[0], size(), DType::i32, 8)[0], ops::dim_size(b, size())};
  });
  for (const std::string& device : devices()) {
    SCOPED_TRACE(device);
    const runtime::Executable e(runtime::open_device(device), g, catalog());
    try {
      e.run(HostValues(many.begin(), many.end()));
      ADD_FAILURE() << "accepted";
    } catch (const NumericalError& error) {
      EXPECT_EQ(error.op(), "repeat");
      EXPECT_EQ(error.info(), 9);
      expect_holds(error.what(), {"size k of repeat", "at most 8", "sized.cpp:7", "is 9"});
    }
    // The executable survives, and the next call is not told of it.
    EXPECT_EQ(elements(e.run(HostValues(few.begin(), few.end()))[0]), (Doubles{0, 1, 1}));
  }
}

TEST(Sizes, ASymbolsBoundsAreWatchedToo) {
  const std::vector<HostTensor> in{mask_of({1, 1, 0, 1})};
  for (const SymbolInfo& info : {SymbolInfo{0, 2}, SymbolInfo{4, 9}}) {
    Graph g("bounded");
    g.symbols["k"] = info;
    Builder b(g, registry());
    b.output(ops::nonzero(b.input(boolean({4}), "m"), size()), "y");
    for (const std::string& device : devices())
      expect_holds(refusal([&] { run(g, in, device); }), {"NumericalError", "size k of nonzero", "is 3"});
  }
}

TEST(Sizes, WhatNeedsAnElementIsAnErrorWithoutOne) {
  const std::vector<HostTensor> none{mask_of({0, 0}), vector_of(DType::f64, {1, 2})};
  const Graph g = graph_of(none, [](ValuesIn in) {
    const Value v = ops::take(in[1], ops::nonzero(in[0], size()), 0);
    return Values{ops::arg_reduce(v, 0, ops::Extremum::max)};
  });
  for (const std::string& device : devices()) {
    SCOPED_TRACE(device);
    expect_holds(refusal([&] { run(g, none, device); }), {"arg_reduce"});
    EXPECT_EQ(elements(run(g, {mask_of({0, 1}), none[1]}, device)[0]), (Doubles{0}));
  }
}

TEST(Sizes, CheckedModeReportsAnIndexBeyondTheCount) {
  const std::vector<HostTensor> in{mask_of({1, 1, 0, 1, 0}), vector_of(DType::f64, {1, 2, 3, 4, 5}),
                                   vector_of(DType::i32, {2, 3})};
  const Graph gather = graph_of(
      in, [](ValuesIn v) { return Values{ops::take(ops::take(v[1], ops::nonzero(v[0], size()), 0), v[2], 0)}; });
  const Graph scatter = graph_of(in, [](ValuesIn v) {
    const Value kept = ops::take(v[1], ops::nonzero(v[0], size()), 0);
    return Values{ops::index_add(kept, v[2], ops::full(*v[0].builder, DType::f64, {2}, 10))};
  });
  for (const std::string& device : devices()) {
    SCOPED_TRACE(device);
    expect_holds(refusal([&] { run(gather, in, device, {.checked = true}); }),
                 {"ArgumentError: gather index 3 is out of range"});
    expect_holds(refusal([&] { run(scatter, in, device, {.checked = true}); }),
                 {"ArgumentError: scatter index 3 is out of range"});
    EXPECT_EQ(elements(run(gather, in, device)[0]), (Doubles{4, 4}));
    EXPECT_EQ(elements(run(scatter, in, device)[0]), (Doubles{1, 2, 14}));
  }
}

TEST(Sizes, WhatHasNoBoundedFormIsRefusedByName) {
  const std::vector<HostTensor> in{mask_of({1, 0, 1, 1}), vector_of(DType::f64, Doubles(8, 1), {2, 4})};
  const Graph g = graph_of(in, [](ValuesIn v) {
    const Value columns = ops::take(v[1], ops::nonzero(v[0], size()), 1);
    return Values{ops::reduce_sum(ops::reshape(columns, {size() * 2}), {0}),
                  ops::slice_axis(columns, 1, size() - 1, size())};
  });
  for (const std::string& device : devices()) {
    if (device == "reference") continue;
    expect_holds(
        refusal([&] { run(g, in, device); }),
        {"CompileError: 2 of ", "reshape", "sizes", "from [2,k] to [2*k]", "slice", "it starts at k-1", "sized.cpp:7"});
  }
  const Graph unbounded = graph_of({vector_of(DType::i32, {1, 2})}, [](ValuesIn v) {
    const Value zero = ops::scalar(*v[0].builder, DType::i64, 0);
    return ops::while_(
        {&zero, 1}, {&v[0], 1},
        [](ValuesIn s) { return Values{ops::compare(s[0], ops::full_like(s[0], 3), ops::Direction::lt)}; },
        [](ValuesIn s) {
          return Values{s[0] + ops::reduce_sum(ops::convert(ops::repeat(s[1], size())[0], DType::i64), {0})};
        });
  });
  for (const std::string& device : devices())
    if (device != "reference")
      expect_holds(refusal([&] { run(unbounded, {vector_of(DType::i32, {1, 2})}, device); }),
                   {"CompileError", "repeat", "size k has no upper bound"});
}

TEST(Sizes, ReportHasOneRowANodeAndTheBound) {
  const std::vector<HostTensor> in{mask_of({1, 0, 1, 1}), vector_of(DType::f64, {1, 2, 3, 4})};
  const Graph g = graph_of(in, [](ValuesIn v) {
    const Value kept = ops::take(v[1], ops::nonzero(v[0], size()), 0);
    return Values{kept * 2, ops::reduce_sum(kept, {0}), ops::softmax(kept, 0)};
  });
  const runtime::Executable e(runtime::open_device("cpu"), g, catalog());
  ASSERT_EQ(e.report().rows.size(), g.region(Graph::top).nodes.size());
  std::map<std::string, const ReportRow*> rows;
  for (const ReportRow& r : e.report().rows) rows[r.op] = &r;
  EXPECT_EQ(rows["nonzero"]->notes, std::vector<std::string>{"size k: at most 4"});
  EXPECT_EQ(rows["nonzero"]->lowering, "bound_sizes");
  EXPECT_EQ(rows["reduce"]->path, Path::rewritten);
  EXPECT_EQ(rows["mul"]->path, Path::native);
  EXPECT_EQ(rows["softmax"]->path, Path::common);
  for (const ReportRow& r : e.report().rows) EXPECT_FALSE(r.provider.empty()) << r.op;
}

// f(x) = sum over the masked x of x^2 / 2, through a sort and segments; its gradient is x where the mask is true.
TEST(Sizes, Derivatives) {
  const std::vector<HostTensor> in{mask_of({1, 0, 1, 1, 0}), vector_of(DType::f64, {3, 1, -2, 5, 4})};
  const Graph f = graph_of(in, [](ValuesIn v) {
    Builder& b = *v[0].builder;
    const Value kept = ops::take(v[1], ops::nonzero(v[0], size()), 0);
    const Value sorted = ops::sort(Values{kept}, {.axis = 0})[0];
    const Value none = ops::constant(b, HostTensor::from(DType::i64, {1}, Doubles{0}));
    const Value offsets = ops::concat(Values{none, ops::reshape(ops::dim_size(b, size()), {1})}, 0);
    return Values{ops::reshape(ops::segment_reduce(sorted * sorted, offsets, ops::Combine::add), {}) * 0.5};
  });
  const Graph gradient = transform::simplify(transform::vjp(f, registry(), {.wanted = {false, true}}), registry());
  const Graph push = transform::jvp(f, registry(), {.tangents = {false, true}});
  std::vector<HostTensor> with_cotangent = in, with_tangent = in;
  with_cotangent.push_back(HostTensor::scalar(DType::f64, 2));
  with_tangent.push_back(vector_of(DType::f64, {1, 10, 100, 1000, 10000}));
  for (const std::string& device : devices()) {
    SCOPED_TRACE(device);
    EXPECT_EQ(elements(run(gradient, with_cotangent, device).back()), (Doubles{6, 0, -4, 10, 0}));
    EXPECT_EQ(elements(run(push, with_tangent, device).back()), (Doubles{3 - 200 + 5000}));
  }
}

TEST(Sizes, BatchingNeedsANumber) {
  const std::vector<HostTensor> in{mask_of({1, 0, 1, 1})};
  const auto batched = [&](Dim k) {
    return transform::vmap(graph_of(in, [&](ValuesIn v) { return Values{ops::nonzero(v[0], k)}; }), registry(),
                           {.size = 2});
  };
  expect_holds(refusal([&] { batched(size()); }), {"VerifyError", "nonzero", "differ from member to member"});
  const HostTensor masks = vector_of(DType::boolean, {1, 0, 1, 1, 0, 0, 1, 0}, {2, 4});
  expect_everywhere(batched(3), {masks}, {{0, 2, 3, 2, -1, -1}});
  for (const std::string& device : devices())
    expect_holds(refusal([&] { run(batched(2), {masks}, device); }),
                 {"NumericalError", "size of nonzero (at most 2) is 3"});
}

}  // namespace
}  // namespace rlx::sizes

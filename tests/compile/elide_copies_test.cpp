// Which copies stay, counted in the planned program, and that programs which tempt a buffer into holding two values at
// once still give their values.
#include "catalog.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/evaluate.hpp>
#include <rlx/ir/text.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>
#include <rlx/transform/vjp.hpp>

#include <gtest/gtest.h>

namespace rlx {
namespace {

runtime::Executable compiled(const Graph& g) {
  return runtime::Executable(runtime::open_device("cpu"), g, catalog(), {.checked = false});
}

// Elements of small numbers; integers where the type is one.
HostTensor ramp(const TensorType& t) {
  HostTensor x(t.dtype, constant_shape(t.shape));
  for (std::int64_t i = 0; i < x.numel(); ++i)
    is_integer(t.dtype) ? x.set_i64(i, i % 3) : x.set_f64(i, 0.25 * static_cast<double>(i % 17) - 1);
  return x;
}

// The references' values, exactly: nothing here sums.
void expect_reference_values(const Graph& g) {
  HostValues in;
  for (ValueId v : g.inputs()) in.push_back(ramp(g.tensor_type(v)));
  const HostValues expected = evaluate(g, registry(), in), got = compiled(g).run(in);
  for (std::size_t k = 0; k < got.size(); ++k)
    EXPECT_TRUE(std::get<HostTensor>(got[k]).identical(std::get<HostTensor>(expected[k]))) << "output " << k;
}

// What the steps of a region move: copies by their size, kernels by the points of their index space.
struct Traffic {
  std::int64_t copies = 0, copied = 0, points = 0;
};
Traffic traffic(const Graph& lir, RegionId r) {
  Traffic t;
  for (NodeId id : lir.region(r).nodes) {
    const Node& n = lir.node(id);
    if (n.op->name() == "lir.copy") ++t.copies, t.copied += lir.tensor_type(n.operands[0]).numel().constant();
    if (const auto* k = n.attrs.get_if<lir::KernelAttrs>()) t.points += element_count(k->extents);
  }
  return t;
}
// Of the only loop's body.
Traffic per_trip(const Graph& lir) {
  for (NodeId id : lir.region(Graph::top).nodes)
    if (lir.node(id).op->name() == "lir.while") return traffic(lir, lir.node(id).regions[1]);
  ADD_FAILURE() << "no loop";
  return {};
}
std::size_t copies_reported(const DispatchReport& r) {
  return static_cast<std::size_t>(
      std::count_if(r.steps.begin(), r.steps.end(), [](const StepRow& s) { return s.kind == "copy"; }));
}

constexpr std::int64_t length = 64, width = 32;

Value i64(Builder& b, std::int64_t x) { return ops::scalar(b, DType::i64, static_cast<double>(x)); }

// for (i = 0; i < length; ++i) state = body(i, state); the last states are the outputs.
Graph counted(const Types& states, const std::function<Values(Builder&, Value i, ValuesIn state)>& body,
              std::int64_t trips = length) {
  Graph g("counted");
  Builder b(g, registry());
  Values state{i64(b, 0)};
  for (const Type& t : states) state.push_back(b.input(t, "x" + std::to_string(state.size())));
  const Values out = ops::while_(
      state, {}, [&](ValuesIn v) { return Values{ops::compare(v[0], i64(b, trips), ops::Direction::lt)}; },
      [&](ValuesIn v) {
        Values next{ops::add(v[0], i64(b, 1))};
        for (const Value& x : body(b, v[0], v.subspan(1))) next.push_back(x);
        return next;
      },
      trips);
  for (std::size_t i = 1; i < out.size(); ++i) b.output(out[i], "y" + std::to_string(i));
  return g;
}
Value sliced_row(Value x, Value i) { return ops::dynamic_slice(x, std::array{i, i64(*x.builder, 0)}, {1, width}); }
Value with_row(Value x, Value row, Value i) {
  return ops::dynamic_update_slice(x, row, std::array{i, i64(*x.builder, 0)});
}

Graph scan_rows(std::int64_t steps) {
  Graph g("rows");
  Builder b(g, registry());
  const Value x = b.input(f32({steps, width}), "x"), s = b.input(f32({width}), "s");
  const Values out = ops::scan(std::array{s}, std::array{x}, {}, [](ValuesIn v) {
    const Value next = ops::add(v[0], v[1]);
    return Values{next, ops::mul(next, next)};
  });
  b.output(out[0], "last");
  b.output(out[1], "stacked");
  return g;
}

TEST(ElideCopies, AScanWritesEachRowOnce) {
  const Graph g = scan_rows(length);
  const auto e = compiled(g);
  const Traffic t = per_trip(e.lir());
  EXPECT_LE(t.copied, 1) << "the trip count\n" << print(e.lir());
  EXPECT_LE(t.points, 4 * width);
  expect_reference_values(g);
}

TEST(ElideCopies, WhatATripMovesDoesNotGrowWithTheTrips) {
  const Traffic few = per_trip(compiled(scan_rows(8)).lir()), many = per_trip(compiled(scan_rows(512)).lir());
  EXPECT_EQ(few.copied, many.copied);
  EXPECT_EQ(few.points, many.points);
}

TEST(ElideCopies, TheTapeOfALoopIsWrittenInPlace) {
  for (const std::int64_t trips : {8, 512}) {
    Graph g("loop");
    Builder b(g, registry());
    const Value x = b.input(f64({width}), "x");
    const Values out = ops::while_(
        std::array{i64(b, 0), x}, {},
        [&](ValuesIn v) { return Values{ops::compare(v[0], i64(b, trips), ops::Direction::lt)}; },
        [&](ValuesIn v) { return Values{ops::add(v[0], i64(b, 1)), ops::sin(v[1])}; }, trips);
    b.output(ops::sum_all(out[1]), "y");
    const Graph gradient = transform::grad(g, registry());
    const auto e = compiled(gradient);
    for (NodeId id : e.lir().region(Graph::top).nodes) {
      if (e.lir().node(id).op->name() != "lir.while") continue;
      const Traffic t = traffic(e.lir(), e.lir().node(id).regions[1]);
      EXPECT_LE(t.copied + t.points, 8 * width) << trips << " trips\n" << print(e.lir());
    }
  }
}

TEST(ElideCopies, AnUpdateOfLoopStateAndTheReportOfItsCopies) {
  const Graph g = counted({f32({length, width})}, [](Builder&, Value i, ValuesIn v) {
    return Values{with_row(v[0], ops::add(sliced_row(v[0], i), sliced_row(v[0], i)), i)};
  });
  const auto e = compiled(g);
  const Traffic t = per_trip(e.lir());
  EXPECT_LE(t.copied, 1) << "the trip count\n" << print(e.lir());
  EXPECT_LE(t.points, 3 * width);
  std::int64_t copies = 0;
  for (NodeId n = 0; static_cast<std::size_t>(n) < e.lir().node_count(); ++n) {
    const auto& nodes = e.lir().region(e.lir().node(n).parent).nodes;
    if (e.lir().node(n).op && e.lir().node(n).op->name() == "lir.copy" &&
        std::find(nodes.begin(), nodes.end(), n) != nodes.end())
      ++copies;
  }
  EXPECT_EQ(copies_reported(e.report()), static_cast<std::size_t>(copies));
  expect_reference_values(g);
}

// The row of the last trip is read while this trip's is written: what is computed from the state goes aside first.
TEST(ElideCopies, AnUpdateThatReadsOtherRowsOfTheState) {
  const Graph g = counted({f32({length, width})}, [](Builder& b, Value i, ValuesIn v) {
    return Values{with_row(v[0], ops::add(sliced_row(v[0], ops::sub(i64(b, length - 1), i)), sliced_row(v[0], i)), i)};
  });
  EXPECT_LE(per_trip(compiled(g).lir()).copied, 1);
  expect_reference_values(g);
}

TEST(ElideCopies, TwoUpdatesOfOneState) {
  const Graph g = counted({f32({length, width})}, [](Builder& b, Value i, ValuesIn v) {
    const Value once = with_row(v[0], ops::full(b, DType::f32, {1, width}, 2), i);
    return Values{with_row(once, sliced_row(once, i), ops::sub(i64(b, length - 1), i))};
  });
  EXPECT_LE(per_trip(compiled(g).lir()).copied, 1);
  expect_reference_values(g);
}

// The old state is still needed: here the copy is what keeps the values right.
TEST(ElideCopies, TheOldStateIsReadAfterTheUpdate) {
  const Graph g = counted({f32({length, width}), f32({length, width})}, [](Builder& b, Value i, ValuesIn v) {
    const Value next = with_row(v[0], ops::full(b, DType::f32, {1, width}, 7), i);
    return Values{next, ops::add(v[0], ops::mul(next, next))};
  });
  expect_reference_values(g);
}

TEST(ElideCopies, StatesThatChangePlaces) {
  expect_reference_values(counted({f32({length, width}), f32({length, width})}, [](Builder& b, Value i, ValuesIn v) {
    return Values{with_row(v[1], ops::full(b, DType::f32, {1, width}, 3), i), v[0]};
  }));
}

TEST(ElideCopies, TwoStatesOfOneInitialValue) {
  Graph g("twins");
  Builder b(g, registry());
  const Value x = b.input(f32({length, width}), "x"), start = ops::exp(x);
  const Values out = ops::while_(
      std::array{i64(b, 0), start, start}, std::array{start},
      [&](ValuesIn v) { return Values{ops::compare(v[0], i64(b, 5), ops::Direction::lt)}; },
      [&](ValuesIn v) {
        return Values{ops::add(v[0], i64(b, 1)), with_row(v[1], sliced_row(v[3], v[0]), i64(b, 0)),
                      with_row(v[2], sliced_row(v[1], v[0]), i64(b, 1))};
      },
      5);
  b.output(out[1], "first");
  b.output(out[2], "second");
  b.output(start, "start");
  const auto e = compiled(g);
  const HostValues in{ramp(f32({length, width}))};
  const HostValues got = e.run(in);
  // Every value is an element of start or a copy of one, whatever bits exp gave.
  const HostValues expected = evaluate(g, registry(), in);
  for (std::size_t k = 0; k < 3; ++k)
    for (std::int64_t i = 0; i < length * width; ++i)
      ASSERT_NEAR(std::get<HostTensor>(got[k]).get_f64(i), std::get<HostTensor>(expected[k]).get_f64(i), 1e-6)
          << k << " " << i;
}

TEST(ElideCopies, ScatterIntoStateThatDiesThere) {
  const Graph g =
      counted({f32({length, width}), TensorType{DType::i64, {Dim(4)}}, f32({4, width})},
              [](Builder&, Value, ValuesIn v) { return Values{ops::index_add(v[0], v[1], v[2]), v[1], v[2]}; });
  const Traffic t = per_trip(compiled(g).lir());
  EXPECT_LT(t.copied + t.points, length * width) << print(compiled(g).lir());
  expect_reference_values(g);
}

TEST(ElideCopies, ScatterOfWhatItReads) {
  expect_reference_values(counted(
      {f32({length, width}), TensorType{DType::i64, {Dim(length)}}},
      [](Builder&, Value, ValuesIn v) { return Values{ops::index_add(v[0], v[1], ops::mul(v[0], v[0])), v[1]}; }, 2));
}

TEST(ElideCopies, InsideABranchOfALoop) {
  expect_reference_values(counted(
      {f32({length, width})},
      [](Builder& b, Value i, ValuesIn v) {
        const Value even = ops::compare(b.emit1("rem", {i, i64(b, 2)}), i64(b, 0), ops::Direction::eq);
        return ops::if_(
            even, std::array{v[0], i},
            [&](ValuesIn w) { return Values{with_row(w[0], ops::full(b, DType::f32, {1, width}, 1), w[1])}; },
            [&](ValuesIn w) { return Values{ops::add(w[0], w[0])}; });
      },
      6));
}

// Each branch makes its results where they are to stand, but for what is there already.
TEST(ElideCopies, BranchesMakeTheirResultsInPlace) {
  for (const ops::Direction d : {ops::Direction::eq, ops::Direction::ne}) {
    Graph g("branches");
    Builder b(g, registry());
    const Value i = b.input(TensorType{DType::i64, {}}, "i"), x = b.input(f32({length, width}), "x");
    const Values y = ops::if_(
        ops::compare(i, i64(b, 0), d), std::array{x},
        [&](ValuesIn v) {
          const Value twice = ops::add(v[0], v[0]);
          return Values{twice, with_row(twice, ops::full(b, DType::f32, {1, width}, 1), i64(b, 3)), twice};
        },
        [&](ValuesIn v) { return Values{ops::mul(v[0], v[0]), v[0], ops::sub(v[0], ops::mul(v[0], v[0]))}; });
    for (const Value& v : y) b.output(v, "y" + std::to_string(g.outputs().size()));
    const auto e = compiled(g);
    for (NodeId id : e.lir().region(Graph::top).nodes)
      if (const Node& n = e.lir().node(id); n.op->name() == "lir.if") {
        // `twice` stands in one place and is copied into its other one, and into what the row is written into.
        EXPECT_EQ(traffic(e.lir(), n.regions[0]).copies, 2) << print(e.lir());
        EXPECT_EQ(traffic(e.lir(), n.regions[1]).copies, 1) << print(e.lir());
      }
    expect_reference_values(g);
  }
}

TEST(ElideCopies, InStraightLineTheWindowGoesIntoTheResult) {
  Graph g("line");
  Builder b(g, registry());
  const Value x = b.input(f32({length, width}), "x");
  Value y = ops::add(x, x);
  for (int i = 0; i < 4; ++i) y = with_row(y, sliced_row(x, i64(b, i)), i64(b, 2 * i));
  b.output(y, "y");
  const auto e = compiled(g);
  const Traffic t = traffic(e.lir(), Graph::top);
  EXPECT_EQ(t.copies, 0) << print(e.lir());
  EXPECT_EQ(t.points, (length + 4) * width);
  EXPECT_EQ(e.report().arena_bytes, 0);
  expect_reference_values(g);
}

TEST(ElideCopies, AnInputIsNeverWritten) {
  Graph g("input");
  Builder b(g, registry());
  const Value x = b.input(f32({length, width}), "x");
  b.output(with_row(x, ops::full(b, DType::f32, {1, width}, 1), i64(b, 3)), "y");
  EXPECT_EQ(traffic(compiled(g).lir(), Graph::top).copies, 1);
  const HostTensor given = ramp(f32({length, width}));
  const HostTensor before = given;
  compiled(g).run(HostValues{given});
  EXPECT_TRUE(given.identical(before));
  expect_reference_values(g);
}

// A loop that reads rows of an invariant each trip, by a slice or by gathering: its reverse adds to those rows of the
// invariant's cotangent, not to all of it.
class ReverseOfReadingRows : public ::testing::TestWithParam<Value (*)(Value x, Value i)> {};

TEST_P(ReverseOfReadingRows, WritesRows) {
  Graph g("rows");
  {
    Builder b(g, registry());
    const Value x = b.input(f64({length, width}), "x");
    const Values out = ops::while_(
        std::array{i64(b, 0), ops::full(b, DType::f64, {1, width}, 0)}, std::array{x},
        [&](ValuesIn v) { return Values{ops::compare(v[0], i64(b, length), ops::Direction::lt)}; },
        [&](ValuesIn v) {
          const Value next = ops::add(v[0], i64(b, 1)), last = ops::min(next, i64(b, length - 1));
          return Values{next, ops::add(v[1], ops::mul(GetParam()(v[2], v[0]), GetParam()(v[2], last)))};
        },
        length);
    b.output(ops::reduce_sum(out[1], {0, 1}), "y");
  }
  const Graph reverse = transform::grad(g, registry());
  const auto e = compiled(reverse);
  std::vector<Traffic> loops;
  for (NodeId id : e.lir().region(Graph::top).nodes)
    if (e.lir().node(id).op->name() == "lir.while") loops.push_back(traffic(e.lir(), e.lir().node(id).regions[1]));
  ASSERT_EQ(loops.size(), 2u);  // forward, and in reverse
  EXPECT_LT(loops[1].points + loops[1].copied, length * width / 4);
  // d/dx of the sum of x[i] x[min(i + 1, last)].
  const HostTensor x = ramp(f64({length, width}));
  const HostValues in{x}, out = e.run(in);
  for (std::int64_t i = 0; i < length; ++i)
    for (std::int64_t j = 0; j < width; ++j) {
      const auto at = [&](std::int64_t k) { return x.get_f64(k * width + j); };
      double d = at(std::min(i + 1, length - 1)) + (i > 0 ? at(i - 1) : 0);
      if (i == length - 1) d += at(i);
      EXPECT_EQ(std::get<HostTensor>(out.back()).get_f64(i * width + j), d) << i << " " << j;
    }
}

Value gathered_row(Value x, Value i) {
  return ops::gather(x, ops::reshape(i, {1}),
                     {.offset_dims = {0, 1}, .start_index_map = {0}, .index_vector_dim = 0, .slice_sizes = {1, width}});
}
INSTANTIATE_TEST_SUITE_P(ElideCopies, ReverseOfReadingRows, ::testing::Values(&sliced_row, &gathered_row));

}  // namespace
}  // namespace rlx

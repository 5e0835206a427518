// Loops whose text says how often they run: the program asks no condition for them.
#include "catalog.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace rlx {
namespace {

struct Count {
  std::int64_t start, step, limit;
  ops::Direction direction = ops::Direction::lt;
  DType dtype = DType::i64;
  std::int64_t max_trips = -1;
  bool swapped = false;  ///< step + i instead of i + step.
};

// A loop that counts as said, from and to and by constants unless `given` says that one is an argument, and adds one to
// `n` a trip. Gives n and the count.
enum class Given { nothing, start, step, limit };
Graph counting(const Count& c, Given given = Given::nothing, bool limit_is_invariant = false) {
  Graph g("count");
  Builder b(g, registry());
  const Value n = b.input(i64({}), "n"), argument = b.input(tensor(c.dtype, {}), "argument");
  const auto number = [&](Given which, std::int64_t x) {
    return which == given ? argument : ops::scalar(b, c.dtype, static_cast<double>(x));
  };
  const Value start = number(Given::start, c.start), outer = number(Given::limit, c.limit),
              step_given = number(Given::step, c.step);
  const Values out = ops::while_(
      std::array{start, n}, std::array{outer, step_given},
      [&](ValuesIn v) {
        const bool inside = given != Given::limit && !limit_is_invariant;
        const Value limit = inside ? ops::scalar(b, c.dtype, static_cast<double>(c.limit)) : v[2];
        return Values{ops::compare(v[0], limit, c.direction)};
      },
      [&](ValuesIn v) {
        return Values{c.swapped ? ops::add(v[3], v[0]) : ops::add(v[0], v[3]),
                      ops::add(v[1], ops::scalar(b, DType::i64, 1))};
      },
      c.max_trips);
  b.output(out[1], "trips");
  b.output(out[0], "count");
  return g;
}

std::shared_ptr<runtime::Device> oneapi() {
  for (const runtime::BackendEntry* entry : runtime::backends())
    if (entry->name == "oneapi" && entry->availability().available) return runtime::open_device("oneapi");
  return nullptr;
}

/// -1 where the program asks the condition.
std::int64_t trips_in(const Graph& lir) {
  for (NodeId id : lir.region(Graph::top).nodes)
    if (const auto* loop = lir.node(id).attrs.get_if<lir::LoopAttrs>()) {
      EXPECT_EQ(lir.region(lir.node(id).regions[0]).nodes.empty(), loop->trips >= 0);
      return loop->trips;
    }
  ADD_FAILURE() << "no loop";
  return -1;
}

std::vector<std::string> notes_of_loop(const DispatchReport& r) {
  const auto row = std::ranges::find(r.rows, "while", &ReportRow::op);
  return row == r.rows.end() ? std::vector<std::string>{} : row->notes;
}

// What a loop of C++ counts, compiled with the argument of value `argument`.
void expect_counts(const Count& c, bool known, const Graph& g, std::int64_t argument = 0) {
  std::int64_t trips = 0, i = c.start;
  const auto holds = [&] { return c.direction == ops::Direction::lt ? i < c.limit : i <= c.limit; };
  for (; holds(); i += c.step) ++trips;
  for (const auto& device : {runtime::open_device("cpu"), oneapi()}) {
    if (!device) continue;
    const runtime::Executable e(device, g, catalog());
    EXPECT_EQ(trips_in(e.lir()), known ? trips : -1);
    EXPECT_EQ(notes_of_loop(e.report()),
              std::vector<std::string>{!known       ? "loop: host-polled"
                                       : trips == 1 ? "loop: 1 trip"
                                                    : "loop: " + std::to_string(trips) + " trips"});
    const HostValues out =
        e.run(HostValues{HostTensor::scalar_i64(DType::i64, 0), HostTensor::scalar_i64(c.dtype, argument)});
    EXPECT_EQ(std::get<HostTensor>(out[0]).get_i64(0), trips) << device->target().device;
    EXPECT_EQ(std::get<HostTensor>(out[1]).get_i64(0), i) << device->target().device;
  }
}

TEST(KnownTrips, OfLoopsThatCount) {
  // Of 300 trips a queue holds 256 before the host waits.
  const Count counts[] = {{0, 1, 300},
                          {3, 4, 20},
                          {3, 4, 19},
                          {-7, 3, 6},
                          {5, 1, 6},
                          {5, 1, 5},
                          {5, 1, 2},
                          {.start = 0, .step = 2, .limit = 9, .dtype = DType::i32},
                          {.start = 0, .step = 1, .limit = 4, .max_trips = 4},
                          {.start = 0, .step = 1, .limit = 4, .swapped = true}};
  for (const Count& c : counts) expect_counts(c, true, counting(c));
  expect_counts(counts[1], true, counting(counts[1], Given::nothing, true));
}

TEST(KnownTrips, NotWhereAnArgumentOrAnotherConditionDecides) {
  const Count c{3, 4, 20};
  expect_counts(c, false, counting(c, Given::start), 3);
  expect_counts(c, false, counting(c, Given::step), 4);
  expect_counts(c, false, counting(c, Given::limit), 20);
  const Count up_to{.start = 3, .step = 4, .limit = 19, .direction = ops::Direction::le};
  expect_counts(up_to, false, counting(up_to));
}

// The count wraps around where C++ has no meaning: such a loop is asked for, and ends by max_trips.
TEST(KnownTrips, NotWhereTheCountWrapsAroundOrIsTooHigh) {
  const Count wraps{.start = 0, .step = 2, .limit = INT32_MAX, .dtype = DType::i32, .max_trips = 3},
      too_high{.start = 0, .step = 1, .limit = 5, .max_trips = 4},
      stands{.start = 0, .step = 0, .limit = 5, .max_trips = 4};
  for (const Count& c : {wraps, too_high, stands}) {
    const runtime::Executable e(runtime::open_device("cpu"), counting(c), catalog());
    EXPECT_EQ(trips_in(e.lir()), -1);
    EXPECT_THROW(e.run(HostValues{HostTensor::scalar_i64(DType::i64, 0), HostTensor::scalar_i64(c.dtype, 0)}),
                 NumericalError);
  }
}

TEST(KnownTrips, OfAScan) {
  Graph g("scan");
  Builder b(g, registry());
  const Value x = b.input(f64({7}), "x"), s = b.input(f64({}), "s");
  const Values out = ops::scan(std::array{s}, std::array{x}, {}, [](ValuesIn v) {
    const Value next = ops::add(v[0], v[1]);
    return Values{next, next};
  });
  b.output(out[1], "sums");
  const runtime::Executable e(runtime::open_device("cpu"), g, catalog());
  EXPECT_EQ(trips_in(e.lir()), 7);
  const HostValues sums = e.run(HostValues{HostTensor::from(DType::f64, {7}, std::array{1., 2., 3., 4., 5., 6., 7.}),
                                           HostTensor::scalar(DType::f64, 0)});
  for (std::int64_t n = 1; n <= 7; ++n)  // Exact: small integers.
    EXPECT_EQ(std::get<HostTensor>(sums[0]).get_f64(n - 1), static_cast<double>(n * (n + 1) / 2));
}

}  // namespace
}  // namespace rlx

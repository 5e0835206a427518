// sort without a library, by the network of compare and exchange, against the operator's reference, for keys of every
// type, also those that no comparison takes as they are.
#include "catalog.hpp"

#include <rlx/ir/evaluate.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace rlx {
namespace {

/// Repeated values in no order; of floats zeros of both signs, infinities and NaN.
HostTensor keys(DType t, std::int64_t n) {
  HostTensor x(t, {n});
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t v = i * 5 % 9;
    if (is_floating(t)) x.set_f64(i, v == 0 ? -0.0 : v == 1 ? 0.0 : v == 2 ? NAN : v == 3 ? INFINITY : double(v) - 6.5);
    else x.set_i64(i, t == DType::boolean ? v & 1 : is_signed_integer(t) ? v - 4 : v);
  }
  return x;
}

/// Equal, zeros by their signs; which NaN one is may change with the type that a device loads it as.
void expect_same(const HostTensor& x, const HostTensor& y) {
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const double a = x.get_f64(i), b = y.get_f64(i);
    EXPECT_TRUE((std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b)))
        << i << ": " << a << ", expected " << b;
  }
}

TEST(SortNetwork, GivesWhatTheReferenceGives) {
  for (const runtime::BackendEntry* backend : runtime::backends()) {
    if (!backend->availability().available) continue;
    const auto device = runtime::open_device(backend->name);
    if (!device->computes() || device->target().interprets()) continue;
    for (const DType t : {DType::i4, DType::i8, DType::u32, DType::f16, DType::f32, DType::f64, DType::boolean,
                          DType::f8e4m3fn, DType::f8e5m2, DType::f8e4m3fnuz, DType::f8e5m2fnuz})
      for (const bool descending : {false, true})
        for (const std::int64_t n : {8, 21}) {
          SCOPED_TRACE(std::string(backend->name) + " " + std::string(name(t)) + (descending ? " descending " : " ") +
                       std::to_string(n));
          Graph g("g");
          Builder b(g, catalog().operators);
          const Values in{b.input(tensor(t, {n}), "x"), b.input(i32({n}), "ids")};
          const Values out = ops::sort(in, {.axis = 0, .keys = 1, .descending = {descending}});
          for (const Value& v : out) b.output(v, "y" + std::to_string(g.outputs().size()));
          CompileOptions options;
          options.preference = Preference::force_common;
          const runtime::Executable program(device, g, catalog(), options);
          ASSERT_EQ(program.report().rows.at(0).lowering, "sort_network");
          HostTensor ids(DType::i32, {n});
          for (std::int64_t i = 0; i < n; ++i) ids.set_i64(i, i);
          const HostValues arguments{keys(t, n), ids}, got = program.run(arguments),
                                                       want = evaluate(g, catalog().operators, arguments);
          expect_same(std::get<HostTensor>(got[0]), std::get<HostTensor>(want[0]));
          EXPECT_EQ(std::get<HostTensor>(got[1]), std::get<HostTensor>(want[1])) << "positions";
        }
  }
}

}  // namespace
}  // namespace rlx

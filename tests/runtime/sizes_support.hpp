// Programs with sizes that results introduce, run on every device that is there, in checked mode and out of it.
#pragma once
#include "catalog.hpp"

#include <rlx/ir/evaluate.hpp>
#include <rlx/ir/verify.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace rlx::sizes {

using Doubles = std::vector<double>;
using Results = std::vector<Doubles>;
using Flags = std::vector<bool>;

inline HostTensor vector_of(DType t, const Doubles& v, std::vector<std::int64_t> shape = {}) {
  if (shape.empty()) shape = {static_cast<std::int64_t>(v.size())};
  return HostTensor::from(t, shape, v);
}
inline HostTensor mask_of(const Flags& f) { return vector_of(DType::boolean, Doubles(f.begin(), f.end())); }
inline Doubles elements(const HostValue& v) {
  const auto& t = std::get<HostTensor>(v);
  Doubles out;
  for (std::int64_t i = 0; i < t.numel(); ++i) out.push_back(t.get_f64(i));
  return out;
}

inline std::vector<std::string> devices() {
  std::vector<std::string> out;
  for (const char* name : {"reference", "cpu", "oneapi"})
    for (const runtime::BackendEntry* b : runtime::backends())
      if (b->name == name && b->availability().available) out.push_back(name);
  return out;
}

inline Graph graph_of(const std::vector<HostTensor>& like, const std::function<Values(ValuesIn)>& body) {
  Graph g("sized");
  Builder b(g, catalog().operators);
  Values in;
  for (const HostTensor& t : like)
    in.push_back(
        b.input(Type(tensor(t.dtype(), Shape(t.shape().begin(), t.shape().end()))), "x" + std::to_string(in.size())));
  b.set_location({"sized.cpp", 7});
  for (const Value& v : body(in)) b.output(v, "y" + std::to_string(g.outputs().size()));
  verify(g, Level::hir);
  return g;
}

inline HostValues run(const Graph& g, const std::vector<HostTensor>& in, const std::string& device,
                      const CompileOptions& options = {.checked = false}) {
  const runtime::Executable e(runtime::open_device(device), g, catalog(), options);
  return e.run(HostValues(in.begin(), in.end()));
}

struct Call {
  std::vector<HostTensor> in;
  Results expected;
};
/// By one program a device; every result must have as many elements as expected, each within 1e-12 of its size (sums of
/// a few f64 in another order).
inline void expect_on(const std::vector<std::string>& on, const Graph& g, const std::vector<Call>& calls) {
  for (const std::string& device : on)
    for (const bool checked : {false, true}) {
      const runtime::Executable e(runtime::open_device(device), g, catalog(), {.checked = checked});
      for (std::size_t c = 0; c < calls.size(); ++c) {
        SCOPED_TRACE(device + (checked ? ", checked" : "") + ", call " + std::to_string(c));
        const Results& expected = calls[c].expected;
        const HostValues out = e.run(HostValues(calls[c].in.begin(), calls[c].in.end()));
        ASSERT_EQ(out.size(), expected.size());
        for (std::size_t i = 0; i < out.size(); ++i) {
          const Doubles got = elements(out[i]);
          ASSERT_EQ(got.size(), expected[i].size()) << "result " << i;
          for (std::size_t j = 0; j < got.size(); ++j) {
            if (std::isnan(expected[i][j]) ? std::isnan(got[j]) : got[j] == expected[i][j]) continue;
            EXPECT_NEAR(got[j], expected[i][j], 1e-12 * std::max(1.0, std::abs(expected[i][j])))
                << "result " << i << ", element " << j;
          }
        }
      }
    }
}
inline void expect_everywhere(const Graph& g, const std::vector<Call>& calls) { expect_on(devices(), g, calls); }
inline void expect_everywhere(const Graph& g, const std::vector<HostTensor>& in, const Results& expected) {
  expect_everywhere(g, {{in, expected}});
}

/// Where compilation takes no time to speak of; what is tested so is no device's business.
inline const std::vector<std::string> quick_devices{"reference", "cpu"};

inline Dim size(const char* name = "k") { return Dim::symbol(name); }

}  // namespace rlx::sizes

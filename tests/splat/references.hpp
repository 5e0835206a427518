// The reference files of shared/reference/splat, and programs of one graph, for the tests of splat.
#pragma once
#include <rlx/catalog.hpp>
#include <rlx/formats/hdf5.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>
#include <rlx/splat/splat.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "places.hpp"

namespace rlx::splat::testing {

namespace fs = std::filesystem;

inline fs::path reference_folder() { return places::shared() / "reference" / "splat"; }

/// One of the files; a test that needs it is skipped by its name where it is not there.
class Reference {
 public:
  explicit Reference(const std::string& name) : path_(reference_folder() / name) {}
  bool exists() const { return fs::exists(path_); }
  std::string path() const { return path_.string(); }
  HostTensor operator()(const std::string& dataset) const { return formats::read_hdf5(path_.string(), "/" + dataset); }
  std::int64_t number(const std::string& dataset) const { return (*this)(dataset).get_i64(0); }

 private:
  fs::path path_;
};
#define RLX_NEEDS(reference) \
  if (!(reference).exists()) GTEST_SKIP() << (reference).path() << " is not there: RLX_SHARED names its folder"

inline const runtime::Catalog& catalog() {
  static const runtime::Catalog c = [] {
    runtime::Catalog made = make_catalog();
    add_to(made);
    return made;
  }();
  return c;
}

inline HostTensor as(DType t, const HostTensor& x) {
  HostTensor out(t, x.shape());
  for (std::int64_t i = 0; i < x.numel(); ++i) out.set_f64(i, x.get_f64(i));
  return out;
}

/// A graph of one function of tensors of these types.
inline Graph graph_of(const std::vector<HostTensor>& in, const std::function<Values(Builder&, ValuesIn)>& f) {
  Graph g("test");
  Builder b(g, catalog().operators);
  Values inputs;
  for (const HostTensor& x : in)
    inputs.push_back(
        b.input(tensor(x.dtype(), Shape(x.shape().begin(), x.shape().end())), "x" + std::to_string(inputs.size())));
  const Values out = f(b, inputs);
  for (std::size_t i = 0; i < out.size(); ++i) b.output(out[i], "y" + std::to_string(i));
  return g;
}

/// Compiled for a device and run.
inline std::vector<HostTensor> run(const Graph& g, const std::vector<HostTensor>& in,
                                   const CompileOptions& options = {}, const std::string& device = "cpu") {
  const runtime::Executable e(runtime::open_device(device), g, catalog(), options);
  const HostValues arguments(in.begin(), in.end());
  std::vector<HostTensor> out;
  for (const HostValue& v : e.run(arguments)) out.push_back(std::get<HostTensor>(v));
  return out;
}

/// A variable of the environment while it lives.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before, had_ = true;
    setenv(name, value.c_str(), 1);
  }
  ~Setting() { had_ ? setenv(name_, before_.c_str(), 1) : unsetenv(name_); }
  Setting(const Setting&) = delete;

 private:
  const char* name_;
  std::string before_;
  bool had_ = false;
};

inline double largest(const HostTensor& x) {
  double m = 0;
  for (std::int64_t i = 0; i < x.numel(); ++i) m = std::max(m, std::abs(x.get_f64(i)));
  return m;
}

/// The largest difference over the largest magnitude of what is expected; NaN where either has one.
inline double relative_difference(const HostTensor& got, const HostTensor& expected) {
  EXPECT_EQ(got.shape(), expected.shape());
  double worst = 0;
  for (std::int64_t i = 0; i < expected.numel(); ++i) {
    const double d = std::abs(got.get_f64(i) - expected.get_f64(i));
    if (!(d <= worst)) worst = d;
  }
  return worst / std::max(largest(expected), 1e-300);
}

}  // namespace rlx::splat::testing

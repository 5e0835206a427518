// A factorization is opaque data of the device that made it: to another it is an error with a name and never memory
// that is read as something else.
#include "linalg_catalog.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/linalg/build.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace rlx::linalg::testing {
namespace {

const SparseType type{SparseFormat::csr, DType::f64, DType::i32, {2, 2}, 3};

runtime::Executable compiled(const std::string& device, const std::function<void(Builder&)>& build) {
  Graph g("test");
  Builder b(g, linalg_catalog().operators);
  build(b);
  return {runtime::open_device(device), g, linalg_catalog()};
}

HostSparse matrix() {  // [2 1; 0 4]
  const double offsets[] = {0, 2, 3}, columns[] = {0, 1, 1}, values[] = {2, 1, 4};
  return {type, HostTensor::from(DType::i32, {3}, offsets), HostTensor::from(DType::i32, {3}, columns),
          HostTensor::from(DType::f64, {3}, values)};
}

TEST(ForeignFactor, IsRefusedByEveryOperatorThatReadsIt) {
  const ResourceType resource{"sparse_lu", "", DType::f64, {2, 2}};
  const double ones[] = {3, 4};
  const HostTensor right = HostTensor::from(DType::f64, {2}, ones);
  const auto factor = [&](const std::string& device) {
    const HostValue in[] = {matrix()};
    return compiled(device, [](Builder& b) { b.output(sparse_lu(b.input(type, "A")), "F"); }).run(in)[0];
  };
  for (const auto& [maker, reader] : {std::pair{"reference", "cpu"}, {"cpu", "cpu"}, {"cpu", "reference"}}) {
    SCOPED_TRACE(std::string(maker) + " to " + reader);
    const HostValue f = factor(maker);
    const auto check = [&](const std::function<void(Builder&)>& build, HostValues in) {
      const runtime::Executable program = compiled(reader, build);
      if (maker == std::string(reader)) {
        EXPECT_NO_THROW(program.run(in));
        return;
      }
      try {
        program.run(in);
        ADD_FAILURE() << "not refused";
      } catch (const ArgumentError& e) {
        EXPECT_NE(std::string(e.what()).find("resource<sparse_lu"), std::string::npos) << e.what();
      }
    };
    check([&](Builder& b) { b.output(rcond(b.input(resource, "F")), "rcond"); }, {f});
    if (reader == std::string("reference")) continue;  // Its solve and update read the matrix alone.
    check(
        [&](Builder& b) {
          const Value in = b.input(resource, "F"), a = b.input(type, "A");
          b.output(sparse_lu_solve(in, a, b.input(f64({2}), "b")), "x");
        },
        {f, matrix(), right});
    check(
        [&](Builder& b) {
          const Value in = b.input(resource, "F");
          b.output(sparse_lu_update(in, b.input(type, "A")), "F2");
        },
        {f, matrix()});
  }
}

}  // namespace
}  // namespace rlx::linalg::testing

// Sound matrices pass in checked mode whatever their empty rows; unsound offsets are refused, not followed, and so are
// arrays that are not those of their matrix's type.
#include "linalg_catalog.hpp"

#include <rlx/csr.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/ir/evaluate.hpp>
#include <rlx/linalg/build.hpp>
#include <rlx/linalg/solver.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

namespace rlx {
namespace {

HostTensor integers(std::vector<double> v) {
  return HostTensor::from(DType::i32, {static_cast<std::int64_t>(v.size())}, v);
}

HostTensor vector(std::vector<double> v, DType t = DType::f64) {
  return HostTensor::from(t, {static_cast<std::int64_t>(v.size())}, v);
}

TEST(Checked, RowsWithoutEntriesAreSound) {
  Graph g;
  Builder b(g, linalg_catalog().operators);
  const SparseType type{SparseFormat::csr, DType::f64, DType::i32, {4, 2}, 2};
  b.output(linalg::row_indices(b.input(type, "a")), "rows");
  const runtime::Executable e(runtime::open_device("cpu"), g, linalg_catalog(), {.checked = true});
  const double values[] = {5, 6};
  const HostValues in{
      HostSparse{type, integers({0, 0, 2, 2, 2}), integers({0, 1}), HostTensor::from(DType::f64, {2}, values)}};
  const auto rows = std::get<HostTensor>(e.run(in)[0]);
  EXPECT_EQ(rows.get_i64(0), 1);
  EXPECT_EQ(rows.get_i64(1), 1);
}

TEST(Checked, OffsetsThatLeaveTheEntriesAreRefused) {
  Graph g;
  Builder b(g, linalg_catalog().operators);
  const SparseType type{SparseFormat::csr, DType::f64, DType::i32, {2, 2}, 2};
  const Value a = b.input(type, "a");
  b.output(linalg::spmv(a, b.input(f64({2}), "x")), "y");
  const runtime::Executable e(runtime::open_device("cpu"), g, linalg_catalog(), {.checked = true});
  const double values[] = {5, 6};
  const HostTensor v = HostTensor::from(DType::f64, {2}, values);
  for (const double wrong : {1e9, -1e9}) {
    const HostValues in{HostSparse{type, integers({0, wrong, 2}), integers({0, 1}), v}, v};
    EXPECT_THROW(e.run(in), ArgumentError) << wrong;
  }
  const HostValues sound{HostSparse{type, integers({0, 1, 2}), integers({0, 1}), v}, v};
  EXPECT_EQ(std::get<HostTensor>(e.run(sound)[0]).get_f64(1), 36);  // The refusal is not the next call's.
}

// What `f` throws as an ArgumentError; empty where it throws nothing.
template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const ArgumentError& e) { return e.what(); }
  return {};
}

// A type says what it likes; what it stands for are arrays, which must be those of it.
TEST(SparseArgument, ArraysAreThoseOfItsType) {
  Graph g;
  Builder b(g, linalg_catalog().operators);
  const SparseType type{SparseFormat::csr, DType::f64, DType::i32, {3, 3}, 4};
  const Value a = b.input(type, "a");
  b.output(linalg::spmv(a, b.input(f64({3}), "x")), "y");
  const HostTensor offsets = integers({0, 1, 2, 4}), indices = integers({0, 1, 0, 2}), x = vector({1, 2, 3}),
                   values = vector({4, 3, 1, 5});
  const struct {
    const char* array;
    HostSparse a;
    const char *is, *expected;
  } wrong[] = {
      {"values", {type, offsets, indices, vector({4, 3, 1, 5}, DType::f32)}, "f32[4]", "f64[4]"},
      {"values", {type, offsets, indices, vector({4, 3})}, "f64[2]", "f64[4]"},
      {"values", {type, offsets, indices, values.reshaped({2, 2})}, "f64[2,2]", "f64[4]"},
      {"indices", {type, offsets, integers({}), values}, "i32[0]", "i32[4]"},
      {"offsets", {type, vector({0, 1, 2, 4}, DType::i64), indices, values}, "i64[4]", "i32[4]"},
      {"offsets", {type, integers({0, 1}), indices, values}, "i32[2]", "i32[4]"},
      {"offsets", {type, {}, {}, {}}, "f32[]", "i32[4]"},
  };
  const HostSparse sound{type, offsets, indices, values};
  for (const runtime::BackendEntry* backend : runtime::backends()) {
    if (!backend->availability().available) continue;
    const auto device = runtime::open_device(backend->name);
    if (!device->computes()) continue;
    const runtime::Executable e(device, g, linalg_catalog(), {.checked = true});
    for (const auto& w : wrong) {
      const std::string why = refusal([&] { e.run(HostValues{w.a, x}); });
      EXPECT_NE(why.find(std::string("argument \"a\": the ") + w.array), std::string::npos)
          << backend->name << ": " << why;
      EXPECT_NE(why.find(std::string(" are ") + w.is + ", expected " + w.expected), std::string::npos) << why;
    }
    EXPECT_EQ(std::get<HostTensor>(e.run(HostValues{sound, x})[0]), vector({4, 6, 16})) << backend->name;
  }
  for (const auto& w : wrong) {
    EXPECT_NE(refusal([&] { evaluate(g, linalg_catalog().operators, HostValues{w.a, x}); }), "") << w.array;
    EXPECT_NE(refusal([&] { Csr{Handle(HostValue(w.a))}; }), "") << w.array;
    EXPECT_NE(refusal([&] { linalg::Solver{w.a}; }), "") << w.array;
  }
  EXPECT_EQ(Csr(Handle(HostValue(sound))).entries(), 4);
}

}  // namespace
}  // namespace rlx

// Sound matrices pass in checked mode whatever their empty rows; unsound offsets are refused, not followed.
#include <rlx/catalog.hpp>
#include <rlx/linalg/build.hpp>
#include <rlx/linalg/register.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

namespace rlx {
namespace {

const runtime::Catalog& catalog() {
  static const auto& c = *[] {
    auto* c = new runtime::Catalog(make_catalog());
    linalg::add_to(*c);
    return c;
  }();
  return c;
}

HostTensor integers(std::vector<double> v) {
  return HostTensor::from(DType::i32, {static_cast<std::int64_t>(v.size())}, v);
}

TEST(Checked, RowsWithoutEntriesAreSound) {
  Graph g;
  Builder b(g, catalog().operators);
  const SparseType type{SparseFormat::csr, DType::f64, DType::i32, {4, 2}, 2};
  b.output(linalg::row_indices(b.input(type, "a")), "rows");
  const runtime::Executable e(runtime::open_device("cpu"), g, catalog(), {.checked = true});
  const double values[] = {5, 6};
  const HostValues in{
      HostSparse{type, integers({0, 0, 2, 2, 2}), integers({0, 1}), HostTensor::from(DType::f64, {2}, values)}};
  const auto rows = std::get<HostTensor>(e.run(in)[0]);
  EXPECT_EQ(rows.get_i64(0), 1);
  EXPECT_EQ(rows.get_i64(1), 1);
}

TEST(Checked, OffsetsThatLeaveTheEntriesAreRefused) {
  Graph g;
  Builder b(g, catalog().operators);
  const SparseType type{SparseFormat::csr, DType::f64, DType::i32, {2, 2}, 2};
  const Value a = b.input(type, "a");
  b.output(linalg::spmv(a, b.input(f64({2}), "x")), "y");
  const runtime::Executable e(runtime::open_device("cpu"), g, catalog(), {.checked = true});
  const double values[] = {5, 6};
  const HostTensor v = HostTensor::from(DType::f64, {2}, values);
  for (const double wrong : {1e9, -1e9}) {
    const HostValues in{HostSparse{type, integers({0, wrong, 2}), integers({0, 1}), v}, v};
    EXPECT_THROW(e.run(in), ArgumentError) << wrong;
  }
  const HostValues sound{HostSparse{type, integers({0, 1, 2}), integers({0, 1}), v}, v};
  EXPECT_EQ(std::get<HostTensor>(e.run(sound)[0]).get_f64(1), 36);  // The refusal is not the next call's.
}

}  // namespace
}  // namespace rlx

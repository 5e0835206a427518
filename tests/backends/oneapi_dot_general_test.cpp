// dot_general in tiles of local memory: against the host reference on small integers, where every order of summation
// is exact, for all roles of dimensions, element types and sizes that are no multiples of a tile.
#include "catalog.hpp"
#include "oneapi_support.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/evaluate.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

namespace rlx::test {
namespace {

using ops::DotGeneralAttrs;

class OneapiDotGeneral : public OneapiTest {
 protected:
  static HostTensor digits(DType t, const std::vector<std::int64_t>& shape, int seed) {
    HostTensor x(t, shape);
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      const double v = static_cast<double>((i * 7 + seed + i / 5) % 5) - 2;
      if (is_complex(t)) x.set_c128(i, {v, static_cast<double>(i % 3) - 1});
      else x.set_f64(i, v);
    }
    return x;
  }
  static bool uses_teams(const Graph& lir) {
    for (NodeId id : lir::kernels(lir))
      if (lir.node(id).attrs.as<lir::KernelAttrs>().policy == lir::Policy::team) return true;
    return false;
  }
  /// Whether the product was made by teams; the result must be the reference's.
  bool product(const HostTensor& x, const HostTensor& y, const DotGeneralAttrs& a, bool fused = false) {
    Graph g;
    Builder b(g, catalog().operators);
    const HostValues in{x, y};
    Value left = b.input(type_of(in[0]), "x");
    const Value right = b.input(type_of(in[1]), "y");
    if (fused) left = ops::reverse(left, {0});  // a change of position, made while the tile is brought
    b.output(ops::dot_general(left, right, a), "z");
    const runtime::Executable e(device, g, catalog());
    const HostTensor got = std::get<HostTensor>(e.run(in)[0]),
                     want = std::get<HostTensor>(evaluate(g, catalog().operators, in)[0]);
    EXPECT_EQ(got.shape(), want.shape());
    for (std::int64_t i = 0; i < want.numel(); ++i)
      if (got.get_c128(i) != want.get_c128(i)) {
        ADD_FAILURE() << name(x.dtype()) << " element " << i << ": " << got.get_c128(i) << " is not "
                      << want.get_c128(i);
        break;
      }
    return uses_teams(e.lir());
  }
};

TEST_F(OneapiDotGeneral, EveryElementType) {
  for (DType t : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::c64, DType::c128, DType::i8, DType::i32,
                  DType::u64, DType::i4})
    EXPECT_TRUE(product(digits(t, {70, 37}, 1), digits(t, {37, 66}, 2), {{}, {}, {1}, {0}})) << name(t);
}

TEST_F(OneapiDotGeneral, EveryRoleOfDimensions) {
  const auto t = DType::f32;
  // Both transposed; batches in different places; several free and contracted dimensions.
  EXPECT_TRUE(product(digits(t, {40, 65}, 1), digits(t, {129, 40}, 2), {{}, {}, {0}, {1}}));
  EXPECT_TRUE(product(digits(t, {3, 64, 16}, 1), digits(t, {16, 3, 64}, 2), {{0}, {1}, {2}, {0}}));
  EXPECT_TRUE(
      product(digits(t, {2, 33, 5, 7, 2}, 1), digits(t, {7, 2, 9, 2, 5, 4}, 2), {{0, 4}, {1, 3}, {2, 3}, {4, 0}}));
  EXPECT_TRUE(product(digits(t, {64, 32}, 1), digits(t, {32, 64}, 2), {{}, {}, {1}, {0}}, true));
}

TEST_F(OneapiDotGeneral, SmallProductsKeepTheFormWithoutTiles) {
  EXPECT_FALSE(product(digits(DType::f32, {31, 64}, 1), digits(DType::f32, {64, 64}, 2), {{}, {}, {1}, {0}}));
  EXPECT_FALSE(product(digits(DType::f32, {64, 3}, 1), digits(DType::f32, {3, 64}, 2), {{}, {}, {1}, {0}}));
  EXPECT_FALSE(product(digits(DType::f32, {64, 0}, 1), digits(DType::f32, {0, 64}, 2), {{}, {}, {1}, {0}}));
}

// Terms beyond the last one are zero, not what lies there: an infinity in the last row must not meet a padded zero.
TEST_F(OneapiDotGeneral, PaddingIsNoTerm) {
  HostTensor x = digits(DType::f32, {64, 17}, 1), y = digits(DType::f32, {17, 64}, 2);
  for (std::int64_t i = 0; i < 64; ++i) x.set_f64(i * 17 + 16, 1), y.set_f64(16 * 64 + i, INFINITY);
  EXPECT_TRUE(product(x, y, {{}, {}, {1}, {0}}));
}

}  // namespace
}  // namespace rlx::test

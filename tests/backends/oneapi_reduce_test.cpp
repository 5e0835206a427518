// Reductions of few positions by teams: against the host reference, on values where every order of summation is exact.
#include "catalog.hpp"
#include "oneapi_support.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/evaluate.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace rlx::test {
namespace {

class OneapiReduce : public OneapiTest {
 protected:
  /// `body` on one input of this type, which holds small whole numbers in no order.
  void check(const TensorType& t, const std::function<Values(Value)>& body) {
    Graph g;
    Builder b(g, registry());
    for (const Value& v : body(b.input(t, "x"))) b.output(v, "y" + std::to_string(g.outputs().size()));
    HostTensor x(t.dtype, constant_shape(t.shape));
    for (std::int64_t i = 0; i < x.numel(); ++i) x.set_f64(i, static_cast<double>(i * 7919 % 4001) - 2000);
    const HostValues in{x}, want = evaluate(g, registry(), in);
    const runtime::Executable e(device, g, catalog());
    const HostValues got = e.run(in);
    for (std::size_t k = 0; k < want.size(); ++k) {
      const auto &a = std::get<HostTensor>(got[k]), &w = std::get<HostTensor>(want[k]);
      for (std::int64_t i = 0; i < w.numel(); ++i) EXPECT_EQ(a.get_f64(i), w.get_f64(i)) << k << " " << i;
    }
    const std::vector<NodeId> all = lir::kernels(e.lir());
    EXPECT_EQ(e.lir().node(all.at(0)).attrs.as<lir::KernelAttrs>().policy, lir::Policy::team);
  }
};

// The last chunk is short in all of these, and shorter than a team in one.
TEST_F(OneapiReduce, RowsColumnsAndAll) {
  check(f64({3, 40000}), [](Value x) { return Values{ops::reduce_sum(x, {1})}; });
  check(f64({40000, 2}), [](Value x) { return Values{ops::reduce_sum(x, {0})}; });
  check(f64({32771}), [](Value x) { return Values{ops::sum_all(x)}; });
  check(f32({2, 180, 181}), [](Value x) { return Values{ops::reduce_max(ops::neg(x), {1, 2})}; });
  check(i32({20000}), [](Value x) { return Values{ops::reduce_min(x, {0})}; });
}

// The greatest value and the least position that has it: two operands, an associative region.
TEST_F(OneapiReduce, SeveralOperandsTogether) {
  check(f64({2, 33000}), [](Value x) {
    Builder& b = *x.builder;
    const Values xs{x, ops::iota(b, DType::f64, x.shape(), 1)};
    const Values none{ops::scalar(b, DType::f64, -INFINITY), ops::scalar(b, DType::f64, INFINITY)};
    return ops::reduce(xs, none, {1}, [](ValuesIn v) {
      const Value more = ops::compare(v[0], v[2], ops::Direction::gt),
                  same = ops::compare(v[0], v[2], ops::Direction::eq);
      const Value first = ops::min(v[1], v[3]);
      return Values{ops::max(v[0], v[2]), ops::select(same, first, ops::select(more, v[1], v[3]))};
    });
  });
}

}  // namespace
}  // namespace rlx::test

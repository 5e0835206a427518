// A primitive: a reference on the host says what it means, and each device needs a kernel of ours. Here is one for cpu;
// the others refuse it by name. Each result depends on all angles before it, so that a plain loop is the fastest there
// is and no decomposition into primitives comes near it.
#include "phase.hpp"

#include <rlx/ops/build.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace phase {

using rlx::Answer, rlx::DType, rlx::Signature, rlx::Value, rlx::Values;
using A = rlx::NoAttributes;

constexpr rlx::Operand unwrap_operands[] = {{"x", {DType::f32, DType::f64}}};
constexpr rlx::Constraint<A> unwrap_constraints[] = {
    {"C1", "x has at least one dimension", [](const A&, const Signature& s) { return Answer(s.rank(0) >= 1); }}};

/// `count` angles, `next(i)` each, to put(i, angle): whole turns are added so that no step is longer than half a turn.
template <class Next, class Put>
static void unwrap_row(std::int64_t count, const Next& next, const Put& put) {
  constexpr double turn = 2 * std::numbers::pi;
  double turns = 0, before = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = next(i);
    if (i > 0) turns -= std::nearbyint((x - before) / turn);
    put(i, x + turn * turns);
    before = x;
  }
}

static rlx::HostValues unwrap_reference(const A&, const rlx::ReferenceCall& c) {
  const rlx::HostTensor& x = c.tensor(0);
  rlx::HostTensor y = c.make();
  const std::int64_t length = x.shape().back();
  for (std::int64_t row = 0; row < x.numel(); row += length)
    unwrap_row(length, [&](auto i) { return x.get_f64(row + i); }, [&](auto i, double v) { y.set_f64(row + i, v); });
  return {y};
}

template <class T>
static void unwrap_rows(const rlx::LaunchCall& c, std::int64_t length, std::int64_t count) {
  const T* x = static_cast<const T*>(c.in[0].data);
  T* y = static_cast<T*>(c.out[0].data);
  for (std::int64_t row = 0; row < count; row += length)
    unwrap_row(length, [&](auto i) { return x[row + i]; }, [&](auto i, double v) { y[row + i] = static_cast<T>(v); });
}
static void unwrap_launch(const rlx::LaunchCall& c) {
  const rlx::TensorType& t = c.in[0].type;
  const std::int64_t length = t.shape.back().constant(), count = t.numel().constant();
  if (t.dtype == DType::f32) unwrap_rows<float>(c, length, count);
  else unwrap_rows<double>(c, length, count);
}
const rlx::KernelRecord unwrap_on_cpu{.name = "phase.cpu_unwrap",
                                      .op = "phase.unwrap",
                                      .provider = "handwritten",
                                      .dtypes = {{DType::f32, DType::f64}},
                                      .action = rlx::Launch(unwrap_launch),
                                      .widens = [](const rlx::Instance& i) -> std::string {
                                        return i.signature.dtype(0) == DType::f32 ? "f32 computed in f64" : "";
                                      },
                                      .where = "unwrap.cpp"};

// Between jumps every result moves as its angle does.
static Values unwrap_vjp(const rlx::VjpCall<A>& c) { return {c.cotangent[0]}; }
static Values unwrap_jvp(const rlx::JvpCall<A>& c) { return {c.tangent[0]}; }
// Leading dimensions are a loop already; a new one that stands last goes to the front.
static rlx::Batched unwrap_batch(const rlx::BatchCall<A>& c) {
  const int last = c.in[0].rank() - 1;
  if (c.axes[0] < last) return {{unwrap(c.in[0])}, {c.axes[0]}};
  std::vector<int> order(static_cast<std::size_t>(last) + 1);
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.end() - 1, order.end());
  return {{unwrap(rlx::ops::transpose(c.in[0], order))}, {0}};
}
// Each dimension may be cut but the last.
static rlx::ShardRule unwrap_shard(const A&, const Signature& s) {
  rlx::ShardRule r;
  std::vector<int> dims(static_cast<std::size_t>(s.rank(0)));
  std::iota(dims.begin(), dims.end(), 0);
  r.factors.resize(dims.size());
  r.factors.back().kind = rlx::ShardRule::Kind::whole;
  r.operands = r.results = {dims};
  return r;
}

const rlx::OpDef<A> unwrap_op{
    .name = "phase.unwrap",
    .doc =
        "Angles in radians without jumps along the last dimension: whole turns added so that no step exceeds half a "
        "turn.",
    .operands = unwrap_operands,
    .constraints = unwrap_constraints,
    .infer = [](const A&, const Signature& s) -> rlx::Types { return {s.types[0]}; },
    .meaning = rlx::Primitive<A>{unwrap_reference},
    .vjp = rlx::Vjp<A>{unwrap_vjp},
    .jvp = unwrap_jvp,
    .batch = unwrap_batch,
    .shard = unwrap_shard,
    .cost =
        [](const A&, const Signature& s) {
          const rlx::Dim n = s.tensor(0).numel();
          return rlx::Cost{n * 6, n * (2 * rlx::byte_size(s.dtype(0), 1))};
        },
    .samples = []() -> std::vector<rlx::Sample<A>> {
      using rlx::sample, rlx::f64, rlx::f32;
      return {sample<A>({{f64({2, 5}), rlx::Fill::uniform, -10, 10}}),
              sample<A>({{f64({2, 3, 4}), rlx::Fill::uniform, -4, 4}}),
              sample<A>({{f32({7}), rlx::Fill::uniform, -10, 10}}),
              // 3, -3 is a step of 0.28 across the end of the circle.
              sample<A>({{f64({4}), {0, 3, -3, 3}}}).expects({{0, 3, 2 * std::numbers::pi - 3, 3}}),
              sample<A>({f64({1})}), sample<A>({f64({3, 0})}), sample<A>({f64({})}).breaking("C1")};
    }};

Value unwrap(Value x) { return x.builder->emit1("phase.unwrap", {x}); }

rlx::Tensor unwrap(const rlx::Tensor& x, rlx::Here here) {
  rlx::extend_default_catalog("phase", add_to);
  return rlx::Tensor(rlx::call("phase.unwrap", {x}, {}, here)[0]);
}

}  // namespace phase

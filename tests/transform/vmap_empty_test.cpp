// Batches without members: every operator gives results without members, of the types that a batch of one has but for
// its size, whatever the size is known to be when the graph is made.
#include "support.hpp"

#include <rlx/ir/op.hpp>
#include <rlx/linalg/register.hpp>
#include <rlx/splat/register.hpp>

#include <algorithm>
#include <span>

namespace rlx {
namespace {

/// The operators of the families too.
const Registry& everything() {
  static const runtime::Catalog& c = *[] {
    auto* all = new runtime::Catalog(make_catalog());
    linalg::add_to(*all);
    splat::add_to(*all);
    return all;
  }();
  return c.operators;
}

/// One for each sample that is not to be refused.
std::vector<Graph> sample_graphs(const Op& op) {
  std::vector<Graph> out;
  for (const AnySample& s : op.samples()) {
    if (!s.breaks.empty()) continue;
    Graph g(std::string(op.name()));
    Builder b(g, everything());
    Values in;
    for (const SampleOperand& o : s.in) in.push_back(b.input(o.type, "x" + std::to_string(in.size())));
    for (const Value& v : b.emit(op.name(), in, s.attrs, s.regions))
      b.output(v, "y" + std::to_string(g.outputs().size()));
    out.push_back(std::move(g));
  }
  return out;
}

/// Axes of all tensors at once, and of each alone.
std::vector<std::vector<int>> ways(const Graph& g) {
  std::vector<std::vector<int>> out;
  std::vector<int> all;
  for (ValueId v : g.inputs()) all.push_back(std::holds_alternative<TensorType>(g.type(v)) ? 0 : -1);
  if (std::any_of(all.begin(), all.end(), [](int a) { return a >= 0; })) out.push_back(all);
  for (std::size_t k = 0; k < all.size() && all.size() > 1; ++k) {
    if (all[k] < 0) continue;
    std::vector<int> one(all.size(), -1);
    one[k] = 0;
    out.push_back(one);
  }
  return out;
}

bool tensors_alone(const Graph& g) {
  for (std::span<const ValueId> vs : {std::span<const ValueId>(g.inputs()), std::span<const ValueId>(g.outputs())})
    for (ValueId v : vs)
      if (!std::holds_alternative<TensorType>(g.type(v))) return false;
  return true;
}

/// What a batch of `size` refuses by its rule; else nothing, and `f` gets the batched graph.
template <class F>
bool batched(const Graph& g, const std::vector<int>& axes, Dim size, const F& f) {
  try {
    f(transform::vmap(g, everything(), {axes, {}, std::move(size)}));
    return true;
  } catch (const VerifyError& e) {
    if (e.constraint() == "batch") return false;
    ADD_FAILURE() << g.name << " over axes of " << print(g) << ": " << e.what();
  } catch (const std::exception& e) { ADD_FAILURE() << g.name << ": " << e.what(); }
  return false;
}

/// Ones on the diagonals of what all members share: zeros would be a singular matrix, members or none.
void set_diagonals(HostTensor& t) {
  if (t.rank() < 2 || !(is_floating(t.dtype()) || is_complex(t.dtype()))) return;
  const std::int64_t rows = t.shape()[t.shape().size() - 2], columns = t.shape().back();
  for (std::int64_t i = 0; i < t.numel(); ++i)
    if (const std::int64_t at = i % (rows * columns); at / columns == at % columns) t.set_f64(i, 1);
}

HostValues without_members(const Graph& all, const std::vector<int>& axes) {
  HostValues in;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const TensorType& t = all.tensor_type(all.inputs()[k]);
    std::vector<std::int64_t> shape;
    for (const Dim& d : t.shape) shape.push_back(d.is_constant() ? d.constant() : 0);
    HostTensor x(t.dtype, shape);
    if (axes[k] < 0) set_diagonals(x);
    in.push_back(std::move(x));
  }
  return in;
}

TEST(VmapEmpty, EveryOperatorTakesABatchWithoutMembers) {
  std::size_t done = 0;
  for (const Op* op : everything().all()) {
    for (const Graph& g : sample_graphs(*op)) {
      if (!tensors_alone(g)) continue;
      for (const std::vector<int>& axes : ways(g)) {
        // What a batch of two refuses, one of none may refuse too.
        if (!batched(g, axes, 2, [](const Graph&) {})) continue;
        const bool took = batched(g, axes, 0, [&](const Graph& all) {
          verify(all, Level::hir);
          const HostValues y = evaluate(all, everything(), without_members(all, axes));
          for (const HostValue& v : y) EXPECT_EQ(std::get<HostTensor>(v).shape().at(0), 0) << g.name;
          ++done;
        });
        EXPECT_TRUE(took) << g.name << " takes a batch of two and none of none";
      }
    }
  }
  EXPECT_GT(done, 300u);
}

// A size that is known when the graph runs, and is none then. Asked of the operators that read and write by index,
// whose batch of both is a pairing of dimensions.
TEST(VmapEmpty, SizesOfSymbolsMayBeNone) {
  const Graph read = graph_of({f64({4, 2}), i32({3})}, [](ValuesIn v) { return Values{ops::take(v[0], v[1], 0)}; });
  const Graph added = graph_of({f64({4, 2}), i32({3}), f64({3, 2})},
                               [](ValuesIn v) { return Values{ops::index_add(v[0], v[1], v[2])}; });
  const Graph cut = graph_of({f64({4, 2}), i32({}), i32({})},
                             [](ValuesIn v) { return Values{ops::dynamic_slice(v[0], v.subspan(1), {2, 1})}; });
  for (const Graph* g : {&read, &added, &cut}) {
    const Graph all = transform::vmap(*g, registry(), {.size = Dim::symbol("members")});
    verify(all, Level::hir);
    const std::vector<int> axes(g->inputs().size(), 0);
    for (const HostValue& v : evaluate(all, registry(), without_members(all, axes)))
      EXPECT_EQ(std::get<HostTensor>(v).shape().at(0), 0) << print(*g);
  }
  // Its gradient too: a scatter of nothing.
  const Graph slope = transform::vmap(
      transform::grad(
          graph_of({f64({4}), i32({3})}, [](ValuesIn v) { return Values{ops::sum_all(ops::take(v[0], v[1], 0))}; }),
          registry()),
      registry(), {.size = 0});
  const HostValues y = evaluate(slope, registry(), without_members(slope, {0, 0}));
  EXPECT_EQ(std::get<HostTensor>(y.at(1)).shape(), (std::vector<std::int64_t>{0, 4}));
}

}  // namespace
}  // namespace rlx

// Collectives: values, derivatives and batches of programs that run on several ranks, each a thread of this process
// that evaluates the same graph; refusal where there is no transport.
#include <rlx/ops/comm.hpp>

#include "sample_runner.hpp"

#include <rlx/catalog.hpp>
#include <rlx/compile/report.hpp>
#include <rlx/ir/text.hpp>
#include <rlx/ir/verify.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>
#include <rlx/transform/jvp.hpp>
#include <rlx/transform/simplify.hpp>
#include <rlx/transform/vjp.hpp>
#include <rlx/transform/vmap.hpp>

#include <gtest/gtest.h>

#include <barrier>
#include <functional>
#include <set>
#include <thread>

namespace rlx::testing {
namespace {

using namespace ops;
using Reals = std::vector<double>;
using Everywhere = std::vector<Reals>;  // One list of elements a rank.

/// What the ranks of one communicator share.
struct Meeting {
  explicit Meeting(std::size_t ranks) : slots(ranks), all_here(static_cast<std::ptrdiff_t>(ranks)) {}
  std::vector<HostTensor> slots;
  std::barrier<> all_here;
};
class Member final : public HostCommunicator {
 public:
  Member(Meeting& m, std::int64_t rank) : meeting_(m), rank_(rank) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(meeting_.slots.size()); }
  std::int64_t rank() const override { return rank_; }
  std::vector<HostTensor> exchange(const HostTensor& mine) const override {
    meeting_.slots[static_cast<std::size_t>(rank_)] = mine;
    meeting_.all_here.arrive_and_wait();
    std::vector<HostTensor> all = meeting_.slots;
    meeting_.all_here.arrive_and_wait();
    return all;
  }

 private:
  Meeting& meeting_;
  std::int64_t rank_;
};

/// The first output of `g` on every rank. Tensor inputs get `in[input][rank]` in order.
Everywhere run_everywhere(const Graph& g, const std::vector<Everywhere>& in) {
  const std::size_t ranks = in[0].size();
  Meeting meeting(ranks);
  Everywhere out(ranks);
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      HostValues arguments;
      std::size_t next = 0;
      for (ValueId v : g.inputs()) {
        if (const auto* t = std::get_if<TensorType>(&g.type(v)))
          arguments.emplace_back(tensor_of(t->dtype, constant_shape(t->shape), in[next++][r]));
        else if (const auto* q = std::get_if<ResourceType>(&g.type(v)))
          arguments.emplace_back(HostResource{*q, std::make_shared<Member>(meeting, static_cast<std::int64_t>(r))});
        else arguments.emplace_back(HostToken{});
      }
      out[r] = elements(evaluate(g, registry(), arguments)[0]);
    });
  for (std::thread& t : threads) t.join();
  return out;
}

using Collective = std::function<Communicated(Value x, Value communicator, Value token)>;
Graph program(const TensorType& x, std::int64_t ranks, const Collective& f) {
  Graph g("program");
  Builder b(g, registry());
  const Value in = b.input(x, "x"), c = b.input(communicator(ranks), "c"), t = b.input(TokenType{}, "t");
  const Communicated y = f(in, c, t);
  b.output(y.value, "y");
  b.output(y.token, "u");
  verify(g, Level::hir);
  return g;
}

Everywhere random_everywhere(std::size_t ranks, std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Everywhere all(ranks, Reals(n));
  for (Reals& r : all)
    for (double& v : r) v = std::uniform_real_distribution<>(0.5, 1.5)(random);
  return all;
}
double inner(const Everywhere& a, const Everywhere& b) {
  double sum = 0;
  for (std::size_t r = 0; r < a.size(); ++r)
    for (std::size_t i = 0; i < a[r].size(); ++i) sum += a[r][i] * b[r][i];
  return sum;
}
Everywhere moved(Everywhere x, const Everywhere& v, double h) {
  for (std::size_t r = 0; r < x.size(); ++r)
    for (std::size_t i = 0; i < x[r].size(); ++i) x[r][i] += h * v[r][i];
  return x;
}

TEST(Comm, Values) {
  const TensorType x = f64({2});
  const Everywhere in{{1, 2}, {3, 4}, {5, 7}};
  const auto all = [&](const TensorType& t, const Collective& f, const Everywhere& values) {
    return run_everywhere(program(t, static_cast<std::int64_t>(values.size()), f), {values});
  };
  const auto reduce = [](Combine kind) {
    return [kind](Value v, Value c, Value t) { return all_reduce(v, c, t, kind); };
  };
  EXPECT_EQ(all(x, reduce(Combine::add), in), Everywhere(3, {9, 13}));
  EXPECT_EQ(all(x, reduce(Combine::max), in), Everywhere(3, {5, 7}));
  EXPECT_EQ(all(x, reduce(Combine::min), in), Everywhere(3, {1, 2}));
  EXPECT_EQ(all(x, reduce(Combine::mul), in), Everywhere(3, {15, 56}));
  EXPECT_EQ(
      all(x, [](Value v, Value c, Value t) { return all_gather(v, c, t, 0); }, in), Everywhere(3, {1, 2, 3, 4, 5, 7}));
  EXPECT_EQ(all(
                f64({1, 2}), [](Value v, Value c, Value t) { return all_gather(v, c, t, 1); }, in),
            Everywhere(3, {1, 2, 3, 4, 5, 7}));
  const Everywhere two{{1, 2, 3, 4}, {10, 20, 30, 40}};
  EXPECT_EQ(all(
                f64({4}), [](Value v, Value c, Value t) { return reduce_scatter(v, c, t, 0); }, two),
            (Everywhere{{11, 22}, {33, 44}}));
  // Rank r gets column r of every rank's [2, 2] matrix, one below the other.
  EXPECT_EQ(all(
                f64({2, 2}), [](Value v, Value c, Value t) { return all_to_all(v, c, t, 1, 0); }, two),
            (Everywhere{{1, 3, 10, 30}, {2, 4, 20, 40}}));
  EXPECT_EQ(all(x, [](Value v, Value c, Value t) { return broadcast_from(v, c, t, 1); }, in), Everywhere(3, {3, 4}));
  EXPECT_EQ(all(
                x, [](Value v, Value c, Value t) { return permute(v, c, t, {{0, 1}, {1, 2}}); }, in),
            (Everywhere{{0, 0}, {1, 2}, {3, 4}}));
  EXPECT_EQ(all(
                x, [](Value v, Value c, Value t) { return Communicated{v + convert(rank_of(c), DType::f64), t}; }, in),
            (Everywhere{{1, 2}, {4, 5}, {7, 9}}));
}

// f16 sums are formed in f32 and rounded once: 2048 + 1 + 1 is 2050, in f16 alone 2048.
TEST(Comm, SumsOfSmallTypesAreRoundedOnce) {
  const Graph g = program(f16({1}), 3, [](Value v, Value c, Value t) { return all_reduce(v, c, t); });
  EXPECT_EQ(run_everywhere(g, {{{2048}, {1}, {1}}}), Everywhere(3, {2050}));
}

// Integers wrap, as `convert` does: 100 + 100 is 200 - 256, and 3 * 100 is 300 - 256.
TEST(Comm, SumsOfIntegersWrap) {
  const auto with = [](Combine kind) {
    return program(tensor(DType::i8, {2}), 2, [kind](Value v, Value c, Value t) { return all_reduce(v, c, t, kind); });
  };
  EXPECT_EQ(run_everywhere(with(Combine::add), {{{100, -100}, {100, -100}}}), Everywhere(2, {-56, 56}));
  EXPECT_EQ(run_everywhere(with(Combine::mul), {{{3, 2}, {100, 4}}}), Everywhere(2, {44, 8}));
  EXPECT_EQ(run_everywhere(with(Combine::max), {{{100, -100}, {-1, 3}}}), Everywhere(2, {100, 3}));
}

struct Case {
  const char* name;
  TensorType x;
  Collective f;
};
std::vector<Case> cases() {
  std::vector<Case> all;
  for (Combine kind : {Combine::add, Combine::min, Combine::max, Combine::mul})
    all.push_back({"all_reduce", f64({2, 3}), [kind](Value v, Value c, Value t) { return all_reduce(v, c, t, kind); }});
  all.push_back({"all_gather", f64({2, 3}), [](Value v, Value c, Value t) { return all_gather(v, c, t, 1); }});
  all.push_back({"reduce_scatter", f64({2, 8}), [](Value v, Value c, Value t) { return reduce_scatter(v, c, t, 1); }});
  all.push_back({"all_to_all", f64({8, 3}), [](Value v, Value c, Value t) { return all_to_all(v, c, t, 0, 1); }});
  all.push_back({"broadcast", f64({3}), [](Value v, Value c, Value t) { return broadcast_from(v, c, t, 2); }});
  all.push_back({"permute", f64({3}), [](Value v, Value c, Value t) { return permute(v, c, t, {{0, 3}, {3, 1}}); }});
  all.push_back({"two in a row", f64({4}), [](Value v, Value c, Value t) {
                   const Communicated s = all_reduce(sin(v), c, t);
                   return reduce_scatter(s.value * v, c, s.token, 0);
                 }});
  return all;
}

// Of the sum over all ranks: forward mode against differences, reverse mode as its transpose.
TEST(Comm, Derivatives) {
  constexpr std::size_t ranks = 4;
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const Graph f = program(c.x, ranks, c.f);
    const Graph forward = transform::jvp(f, registry(), {.with_outputs = false}),
                reverse = transform::vjp(f, registry(), {.with_outputs = false});
    const auto size = static_cast<std::size_t>(c.x.numel().constant());
    const Everywhere x = random_everywhere(ranks, size, 1), v = random_everywhere(ranks, size, 2);
    const Everywhere y = run_everywhere(f, {x}), u = random_everywhere(ranks, y[0].size(), 3);
    const Everywhere pushed = run_everywhere(forward, {x, v}), pulled = run_everywhere(reverse, {x, u});
    const double h = 1e-6;
    const Everywhere high = run_everywhere(f, {moved(x, v, h)}), low = run_everywhere(f, {moved(x, v, -h)});
    for (std::size_t r = 0; r < ranks; ++r)
      for (std::size_t i = 0; i < y[r].size(); ++i)
        EXPECT_NEAR(pushed[r][i], (high[r][i] - low[r][i]) / (2 * h), 1e-8 * (1 + std::fabs(pushed[r][i])));
    EXPECT_NEAR(inner(u, pushed), inner(pulled, v), 1e-12 * inner(u, pushed));
  }
}

// No two effects wait for the same token, so that all ranks meet in one order, and the last token waits for all.
TEST(Comm, DerivativesKeepOneOrder) {
  const auto f = [](Value v, Value c, Value t) {
    const Communicated all = all_reduce(v, c, t, Combine::mul);  // Its slope is a collective itself.
    return all_reduce(all.value * v, c, all.token, Combine::max);
  };
  const Graph g = program(f64({2}), 3, f);
  const Graph once = transform::jvp(g, registry());
  for (const Graph& d : {once, transform::vjp(g, registry()), transform::vjp(once, registry())}) {
    std::set<ValueId> taken;
    std::size_t effects = 0;
    ValueId last = -1;
    for (NodeId id : d.region(Graph::top).nodes)
      for (ValueId v : d.node(id).operands)
        if (std::holds_alternative<TokenType>(d.type(v))) {
          EXPECT_TRUE(taken.insert(v).second) << print(d);
          last = d.node(id).results.back();
          ++effects;
        }
    EXPECT_GT(effects, 4u);
    EXPECT_EQ(d.outputs()[1], last) << print(d);
  }
}

TEST(Comm, ExtremaShareTheCotangentAmongTies) {
  const Graph g =
      transform::vjp(program(f64({1}), 3, [](Value v, Value c, Value t) { return all_reduce(v, c, t, Combine::max); }),
                     registry(), {.with_outputs = false});
  EXPECT_EQ(run_everywhere(g, {{{4}, {1}, {4}}, {{1}, {2}, {3}}}), (Everywhere{{3}, {0}, {3}}));
}

TEST(Comm, BatchesEqualLoops) {
  constexpr std::size_t ranks = 4, members = 2;
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const Graph f = program(c.x, ranks, c.f);
    // The token is the same for all members; it ends the program.
    const Graph all = transform::vmap(f, registry(), {.in_axes = {0, -1, -1}, .size = members});
    const auto size = static_cast<std::size_t>(c.x.numel().constant());
    Everywhere stacked(ranks), wanted(ranks);
    for (std::size_t m = 0; m < members; ++m) {
      const Everywhere x = random_everywhere(ranks, size, 7 + m), y = run_everywhere(f, {x});
      for (std::size_t r = 0; r < ranks; ++r) {
        stacked[r].insert(stacked[r].end(), x[r].begin(), x[r].end());
        wanted[r].insert(wanted[r].end(), y[r].begin(), y[r].end());
      }
    }
    EXPECT_EQ(run_everywhere(all, {stacked}), wanted);
  }
}

TEST(Comm, DefinitionsHold) {
  for (const Op* op : registry().all()) {
    if (!op->name().starts_with("comm.")) continue;
    SCOPED_TRACE(std::string(op->name()));
    std::set<std::string_view> broken;
    for (const AnySample& s : op->samples()) {
      try {
        const OneNode n(*op, s);
        EXPECT_EQ(s.breaks, "");
        const std::string text = print(n.graph);
        EXPECT_EQ(print(parse(text, registry(), "text")), text);
        const Types types = n.graph.types_of(n.node().operands);
        EXPECT_EQ(op->shard(s.attrs, {types}).operands.size(), types.size());
        EXPECT_GE(op->cost(s.attrs, {types}).bytes.constant(), 0);
      } catch (const VerifyError& e) {
        EXPECT_EQ(e.constraint(), s.breaks) << e.what();
        broken.insert(s.breaks);
      }
    }
    for (const ConstraintDoc& c : op->constraints()) EXPECT_TRUE(broken.contains(c.id)) << c.id;
  }
}

// Communication is an effect: nothing merges two calls or drops one whose value is not used.
TEST(Comm, EffectsStay) {
  Graph g;
  Builder b(g, registry());
  const Value x = b.input(f64({2}), "x"), c = b.input(communicator(2), "c"), t = b.input(TokenType{}, "t");
  const Communicated first = all_reduce(x, c, t);
  all_reduce(x, c, first.token);
  b.output(first.value, "y");
  EXPECT_EQ(transform::simplify(g, registry()).region(Graph::top).nodes.size(), 2u);
}

TEST(Comm, RefusedWithoutATransport) {
  const runtime::Catalog catalog = make_catalog();
  for (const char* device : {"cpu", "null"})
    for (const Case& c : cases()) {
      try {
        runtime::Executable(runtime::open_device(device), program(c.x, 4, c.f), catalog);
        ADD_FAILURE() << c.name << " is accepted on " << device;
      } catch (const CompileError& e) {
        EXPECT_NE(std::string(e.what()).find("transport"), std::string::npos) << e.what();
      }
    }
}

}  // namespace
}  // namespace rlx::testing

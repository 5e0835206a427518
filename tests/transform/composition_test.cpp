// Every sample of every operator under the transformations and their compositions: each gives a legal graph or the
// typed refusal of a rule. Values are compared by the operators' own conformance cases.
#include "support.hpp"

#include <algorithm>
#include <cctype>

namespace rlx {
namespace {

using transform::jvp;
using transform::vjp;
using transform::vmap;

struct Case {
  Graph graph{"f"};
  std::vector<bool> smooth;  // One an input: whether it is differentiated.
  std::vector<int> axes;
};

Case case_of(const Op& op, const AnySample& s) {
  Case c;
  Builder b(c.graph, registry());
  Values in;
  for (const SampleOperand& o : s.in) {
    const auto* t = std::get_if<TensorType>(&o.type);
    in.push_back(b.input(o.type, "x" + std::to_string(in.size())));
    c.smooth.push_back(t && o.differentiable && (is_floating(t->dtype) || is_complex(t->dtype)));
    c.axes.push_back(t && o.differentiable ? 0 : -1);
  }
  for (const Value& v : b.emit(op.name(), in, s.attrs, s.regions))
    b.output(v, "y" + std::to_string(c.graph.outputs().size()));
  return c;
}

class Composition : public testing::TestWithParam<const Op*> {};

TEST_P(Composition, GivesLegalGraphsOrRefuses) {
  const Op& op = *GetParam();
  for (const AnySample& s : op.samples()) {
    if (!s.breaks.empty()) continue;
    const Case c = case_of(op, s);
    const auto attempt = [&](const char* what, const std::function<Graph()>& f) {
      try {
        verify(f(), Level::hir);
      } catch (const VerifyError& e) {
        if (e.constraint() != "vjp" && e.constraint() != "jvp" && e.constraint() != "batch")
          ADD_FAILURE() << what << ": " << e.what();
      } catch (const Error& e) { ADD_FAILURE() << what << ": " << e.what(); }
    };
    attempt("vmap", [&] { return vmap(c.graph, registry(), {.in_axes = c.axes, .size = 3}); });
    if (!s.gradients || std::find(c.smooth.begin(), c.smooth.end(), true) == c.smooth.end()) continue;
    const auto first = [&](const Graph& g) {
      std::vector<bool> m = c.smooth;
      m.resize(g.inputs().size(), false);
      return m;
    };
    const auto pull = [&] { return vjp(c.graph, registry(), {.wanted = c.smooth}); };
    attempt("jvp", [&] { return jvp(c.graph, registry(), {.tangents = c.smooth}); });
    attempt("vjp", pull);
    attempt("jvp of vjp", [&] {
      const Graph g = pull();
      return jvp(g, registry(), {.tangents = first(g)});
    });
    attempt("vjp of vjp", [&] {
      const Graph g = pull();
      return vjp(g, registry(), {.wanted = first(g)});
    });
    attempt("vmap of vjp", [&] {
      const Graph g = pull();
      std::vector<int> axes = c.axes;
      for (std::size_t i = axes.size(); i < g.inputs().size(); ++i)
        axes.push_back(std::holds_alternative<TensorType>(g.type(g.inputs()[i])) ? 0 : -1);
      return vmap(g, registry(), {.in_axes = axes, .size = 3});
    });
  }
}

std::string op_name(const testing::TestParamInfo<const Op*>& p) {
  std::string s(p.param->name());
  for (char& ch : s)
    if (!std::isalnum(static_cast<unsigned char>(ch))) ch = '_';
  return s;
}
INSTANTIATE_TEST_SUITE_P(Ops, Composition, testing::ValuesIn(registry().all()), op_name);

}  // namespace
}  // namespace rlx

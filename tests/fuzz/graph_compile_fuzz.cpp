// A graph that a user hands in is compiled for a device that runs nothing, its symbols replaced by small numbers, or
// refused with an rlx::Error: decompositions, fusion, sizes that results introduce, the plan of memory. The program has
// a text of its own, which is held to the same as the user's.
#include "fuzz/graphs.hpp"

#include <rlx/compile/compile.hpp>

namespace {

using namespace rlx;

// Of the user's; each is some hundred after decomposition.
constexpr std::size_t most_nodes = 8;

// Every symbol of the caller's at about its smallest value above 0.
Bindings smallest(const Graph& g) {
  const auto introduced = size_nodes(g);
  Bindings values;
  for (const auto& [symbol, info] : g.symbols)
    if (!introduced.contains(symbol)) values.emplace(symbol, std::max(info.lower, info.divisor));
  return values;
}

// As the device null states it.
Target nothing() {
  Target t;
  t.device = "null";
  t.description = "nothing";
  t.compute = storable;
  return t;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto p = fuzz::accepted(text, [&]() -> std::optional<Program> {
    const Graph g = parse(text, fuzz::operators(), "fuzz.rlx");
    if (g.node_count() > most_nodes) return std::nullopt;
    verify(g, Level::hir);
    // The length of the text chooses among the policies.
    const CompileOptions options{.checked = size % 2 == 0, .fuse = size % 4 < 2};
    return compile_program(specialise(g, fuzz::operators(), smallest(g)), fuzz::operators(), nothing(), {}, options);
  });
  if (p && *p) fuzz::check_text((*p)->lir);
  return 0;
}

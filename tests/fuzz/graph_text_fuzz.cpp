// The text of a graph of any operator: parse, print, parse, print, of which the second text equals the first; and what
// parses as HIR is compiled for a device that runs nothing, its symbols replaced by small numbers. Nothing but
// rlx::Error may escape, and no InternalError. A text that parses passes the verifier of LIR, whose rules the parser
// has checked on the way; the planned program has a text of its own, which is held to the same.
#include "fuzz/every_operator.hpp"

#include <rlx/compile/compile.hpp>
#include <rlx/ir/text.hpp>
#include <rlx/ir/verify.hpp>

#include <cstdio>
#include <cstdlib>
#include <optional>

namespace {

using namespace rlx;

// What a graph is compiled up to: decompositions and fusion make some hundred nodes of one.
constexpr std::size_t most_nodes = 32;

const Registry& operators() {
  static const Registry all = fuzz::every_operator();
  return all;
}

[[noreturn]] void fail(const std::string& what, std::string_view first, std::string_view second = {}) {
  std::fprintf(stderr, "%s\n--- first\n%.*s\n--- second\n%.*s\n", what.c_str(), static_cast<int>(first.size()),
               first.data(), static_cast<int>(second.size()), second.data());
  std::abort();
}

// Nothing where `body` refuses with an error that is the text's fault.
template <class F>
auto accepted(std::string_view text, F body) -> std::optional<decltype(body())> {
  try {
    return body();
  } catch (const InternalError& e) { fail("InternalError: " + std::string(e.what()), text); } catch (const Error&) {
    return std::nullopt;
  }
}

void check_text(const Graph& g) {
  const std::string first = print(g);
  try {
    const Graph again = parse(first, operators());
    verify(again, Level::lir);
    if (const std::string second = print(again); second != first) fail("texts differ", first, second);
  } catch (const Error& e) { fail(e.type() + ": " + e.what(), first); }
}

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
  const std::optional<Graph> g = accepted(text, [&] { return parse(text, operators(), "fuzz.rlx"); });
  if (!g) return 0;
  check_text(*g);
  if (g->node_count() > most_nodes) return 0;
  const std::optional<Program> p = accepted(text, [&] {
    verify(*g, Level::hir);
    return compile_program(specialise(*g, operators(), smallest(*g)), operators(), nothing(), {},
                           {.checked = size % 2 == 0, .fuse = size % 4 < 2});
  });
  if (p) check_text(p->lir);
  return 0;
}

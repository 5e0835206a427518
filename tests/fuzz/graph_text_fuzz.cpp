// parse, print, parse, print: the second text equals the first, and nothing but rlx::Error escapes. A graph that parses
// passes the verifier of LIR, whose rules the parser has checked on the way.
#include "ir/toy_ops.hpp"

#include <rlx/ir/text.hpp>
#include <rlx/ir/verify.hpp>

#include <cstdio>
#include <cstdlib>

namespace {

[[noreturn]] void differ(const char* what, const std::string& first, const std::string& second) {
  std::fprintf(stderr, "%s\n--- first\n%s\n--- second\n%s\n", what, first.c_str(), second.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const rlx::Registry ops = rlx::toy::registry();
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::string first;
  try {
    const rlx::Graph g = rlx::parse(text, ops, "fuzz.rlx");
    first = rlx::print(g);
  } catch (const rlx::InternalError&) { throw; } catch (const rlx::Error&) {
    return 0;
  }
  try {
    const rlx::Graph again = rlx::parse(first, ops);
    rlx::verify(again, rlx::Level::lir);
    if (const std::string second = rlx::print(again); second != first) differ("texts differ", first, second);
  } catch (const rlx::Error& e) { differ(e.what(), text, first); }
  return 0;
}

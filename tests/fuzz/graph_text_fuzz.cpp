// parse, print, parse, print: the second text equals the first, the verifier says the same of both graphs, and nothing
// but rlx::Error escapes. On the way the parser has checked every operator's attributes, constraints and inferred
// types.
#include "fuzz/graphs.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rlx;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto g = fuzz::accepted(text, [&] { return parse(text, fuzz::operators(), "fuzz.rlx"); }))
    fuzz::check_text(*g);
  return 0;
}

// What the fuzzers of graphs share. A text may name the operators of the library and of its families, which are what
// users parse with, and the toys, which have attributes of every kind.
#pragma once
#include "ir/toy_ops.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/text.hpp>
#include <rlx/ir/verify.hpp>
#include <rlx/linalg/register.hpp>
#include <rlx/ops/register.hpp>
#include <rlx/splat/register.hpp>

#include <cstdio>
#include <cstdlib>
#include <optional>

namespace rlx::fuzz {

inline const Registry& operators() {
  static const Registry all = [] {
    Registry r = toy::registry();
    ops::register_ops(r);
    lir::register_ops(r);
    linalg::register_ops(r);
    splat::register_ops(r);
    return r;
  }();
  return all;
}

[[noreturn]] inline void fail(const std::string& what, std::string_view first, std::string_view second = {}) {
  std::fprintf(stderr, "%s\n--- first\n%.*s\n--- second\n%.*s\n", what.c_str(), static_cast<int>(first.size()),
               first.data(), static_cast<int>(second.size()), second.data());
  std::abort();
}

/// Nothing where `body` refuses with an error that is the text's fault; an InternalError is ours.
template <class F>
auto accepted(std::string_view text, F body) -> std::optional<decltype(body())> {
  try {
    return body();
  } catch (const InternalError& e) { fail("InternalError: " + std::string(e.what()), text); } catch (const Error&) {
    return std::nullopt;
  }
}

/// What the verifier has against it, "" where that is nothing.
inline std::string refusal(const Graph& g) {
  try {
    verify(g, Level::lir);
  } catch (const VerifyError& e) { return e.what(); }
  return {};
}

/// Its text can be read and gives the same text, and the same answer of the verifier.
inline void check_text(const Graph& g) {
  const std::string first = print(g);
  try {
    const Graph again = parse(first, operators());
    if (const std::string second = print(again); second != first) fail("texts differ", first, second);
    if (const std::string a = refusal(g), b = refusal(again); a != b) fail("verified differently: " + first, a, b);
  } catch (const Error& e) { fail(e.type() + ": " + e.what(), first); }
}

}  // namespace rlx::fuzz

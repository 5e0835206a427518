// What a call that must be refused says, and of which line: the caller's, never one of the library's.
#pragma once
#include <rlx/ir/located.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

namespace rlx {

struct LocatedRefusal {
  std::string what, op, constraint, file;
  std::uint64_t line = 0;
};
template <class F>
LocatedRefusal located_refusal(const F& f) {
  try {
    f();
  } catch (const VerifyError& e) {
    const auto* l = dynamic_cast<const Located*>(&e);
    return {e.what(), e.op(), e.constraint(), l ? l->site().file : "", l ? l->site().line : 0};
  } catch (const Error& e) { return {e.what(), e.type(), "", "", 0}; }
  ADD_FAILURE() << "accepted";
  return {};
}

/// `f` notes its line, and `op` refuses it; `here` is in the file of `f`.
template <class F>
void expect_refused_at(const unsigned& line, std::string_view op, const F& f,
                       const std::source_location& here = std::source_location::current()) {
  const LocatedRefusal r = located_refusal(f);
  EXPECT_EQ(r.op, op) << r.what;
  EXPECT_EQ(r.file, here.file_name()) << r.what;
  EXPECT_EQ(r.line, line) << r.what;
}

}  // namespace rlx

// What is refused inside of something that the user wrote is told as that something's.
#pragma once
#include <string_view>

#include <rlx/ir/graph.hpp>
#include <rlx/ir/located.hpp>

namespace rlx::detail {

/// Rethrows the VerifyError in flight, located at `at` where it has no place yet.
[[noreturn]] void rethrow_at(const Location& at);

/// Rethrows the VerifyError or ArgumentError in flight as a VerifyError of `op`: its rule is "in its PART", its message
/// "OP: in its PART: " and what was said, its site the same. One that names `op` already is rethrown as it is.
[[noreturn]] void rethrow_within(std::string_view op, std::string_view part);

/// Rethrows the NumericalError in flight as one of `op`, of which what threw is a part: "OP: " and what was said,
/// without the name of the part. One that names `op` already, or the step that it is about (NonFiniteError), is
/// rethrown as it is.
[[noreturn]] void rethrow_as(std::string_view op);

/// f(), which emits what `part` of `op` consists of.
template <class F>
auto within(std::string_view op, std::string_view part, const F& f) {
  try {
    return f();
  } catch (const VerifyError&) { rethrow_within(op, part); } catch (const ArgumentError&) {
    rethrow_within(op, part);
  }
}

}  // namespace rlx::detail

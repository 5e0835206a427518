// What a call that must be refused says.
#pragma once
#include <rlx/ir/error.hpp>

#include <string>

namespace rlx {

template <class F>
std::string refused(const F& f) {
  try {
    f();
  } catch (const Error& e) { return e.what(); }
  return "accepted";
}

}  // namespace rlx

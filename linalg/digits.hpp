// Numbers in the messages of this family.
#pragma once
#include <cstdio>
#include <string>

namespace rlx::linalg {

/// Two significant digits, as in 1.2e-16.
inline std::string digits(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", x);
  return text;
}

}  // namespace rlx::linalg

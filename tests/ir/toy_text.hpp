// Texts of graphs of toy operators.
#pragma once
#include "toy_ops.hpp"

#include <rlx/ir/text.hpp>

#include <gtest/gtest.h>

#include <string>

namespace rlx {

inline const Registry& text_registry() {
  static const Registry r = toy::registry();
  return r;
}

/// The canonical text of what `text` says.
inline std::string reprinted(std::string_view text) { return print(parse(text, text_registry())); }

inline void expect_canonical(const std::string& text) { EXPECT_EQ(reprinted(text), text); }

}  // namespace rlx

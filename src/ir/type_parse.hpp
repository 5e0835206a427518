// Reading types inside a larger text, such as a graph's.
#pragma once
#include <rlx/ir/type.hpp>

#include "ir/text_cursor.hpp"

#include <string>

namespace rlx::detail {

/// Reads one type and stops behind it. The suffixes "@space" and "{...}" must follow at once, so that a brace after a
/// space belongs to the surrounding text.
Type parse_type(TextCursor& cursor);

/// A name as it is, any other string in quotes with \" \\ and \xHH.
std::string quoted(std::string_view s);
/// Reads what `quoted` prints.
std::string parse_quoted(TextCursor& cursor);

}  // namespace rlx::detail

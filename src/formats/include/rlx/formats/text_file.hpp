// Text in a file, whose meaning is known elsewhere.
#pragma once
#include <rlx/ir/export.hpp>

#include <string>
#include <string_view>

namespace rlx::formats {

/// All of a file, or of a pipe. Throws FormatError for what cannot be read and for folders.
RLX_API std::string read_text(const std::string& path);

/// The file holds `text` then, whole or not at all: a failure is a FormatError that names it, and leaves it as it was.
RLX_API void write_text(const std::string& path, std::string_view text);

}  // namespace rlx::formats

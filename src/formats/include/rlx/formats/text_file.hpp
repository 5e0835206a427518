// Text that is made elsewhere, in a file.
#pragma once
#include <rlx/ir/export.hpp>

#include <string>
#include <string_view>

namespace rlx::formats {

/// The file holds `text` then, whole or not at all: a failure is a FormatError that names it, and leaves it as it was.
RLX_API void write_text(const std::string& path, std::string_view text);

}  // namespace rlx::formats

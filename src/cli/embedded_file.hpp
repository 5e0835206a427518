// Files that the program carries with it; cmake/RlxEmbed.cmake makes the tables.
#pragma once
#include <span>
#include <string_view>

namespace rlx::cli {

struct EmbeddedFile {
  std::string_view name, text;
};

/// The page of `rlx splat view`: splat/view.
std::span<const EmbeddedFile> view_files();

}  // namespace rlx::cli

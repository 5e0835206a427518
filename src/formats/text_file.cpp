#include <rlx/formats/text_file.hpp>

#include "mapped_file.hpp"
#include "pending_file.hpp"

namespace rlx::formats {

std::string read_text(const std::string& path) { return std::string(MappedFile::open(path)->bytes()); }

void write_text(const std::string& path, std::string_view text) {
  PendingFile out(path);
  out.write(text);
  out.commit();
}

}  // namespace rlx::formats

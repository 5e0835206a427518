#include <rlx/ir/counted.hpp>
#include <rlx/ir/located.hpp>

#include <utility>

namespace rlx {

static std::string located(const std::string& file, std::uint64_t offset, std::uint64_t line, std::uint64_t column,
                           const std::string& what) {
  std::string at = file.empty() ? std::string("<memory>") : file;
  if (line) at += ":" + std::to_string(line);
  if (column) at += ":" + std::to_string(column);
  return at + ": " + what + " (byte " + std::to_string(offset) + ")";
}

static std::string sized(const std::string& what, std::uint64_t wanted, std::uint64_t available) {
  return what + " needs " + counted(wanted, "byte") + ", but " + std::to_string(available) + " are available";
}

FormatError::FormatError(std::string file, std::uint64_t offset, const std::string& what, std::uint64_t line,
                         std::uint64_t column)
    : Error("FormatError", located(file, offset, line, column, what)),
      file_(std::move(file)),
      offset_(offset),
      line_(line),
      column_(column) {}

MemoryError::MemoryError(const std::string& what, std::uint64_t wanted_bytes, std::uint64_t available_bytes)
    : Error("MemoryError", sized(what, wanted_bytes, available_bytes)),
      wanted_(wanted_bytes),
      available_(available_bytes) {}

// Out of line, so that each class has one home for its vtable and can be caught across shared libraries.
Error::~Error() = default;
VerifyError::~VerifyError() = default;
FormatError::~FormatError() = default;
ArgumentError::~ArgumentError() = default;
DeviceError::~DeviceError() = default;
MemoryError::~MemoryError() = default;
NumericalError::~NumericalError() = default;
InternalError::~InternalError() = default;
Located::~Located() = default;
LocatedVerifyError::~LocatedVerifyError() = default;
NonFiniteError::~NonFiniteError() = default;

}  // namespace rlx

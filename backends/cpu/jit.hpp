// Object code made executable in this process, by LLVM's LLJIT.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rlx::cpu {

/// The functions of one object; the code lives as long as this.
class LoadedCode {
 public:
  virtual ~LoadedCode() = default;
  virtual void* function(std::size_t i) const = 0;  ///< In the order of the names given to load.
};

/// Throws DeviceError with LLVM's message.
std::unique_ptr<LoadedCode> load(std::span<const std::byte> object, std::span<const std::string> names);

}  // namespace rlx::cpu

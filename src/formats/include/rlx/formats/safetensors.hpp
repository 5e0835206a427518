// Safetensors files: named tensors behind a JSON header.
#pragma once
#include <rlx/ir/export.hpp>
#include <rlx/ir/host_tensor.hpp>

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace rlx::formats {

struct SafeTensors {
  std::map<std::string, HostTensor> tensors{};
  std::map<std::string, std::string> metadata{};  ///< `__metadata__`
};

/// Validates all that the format promises: header of at most 100 MB in UTF-8 without repeated names, known types,
/// shapes whose sizes match, and tensors that cover the data without holes or overlap; FormatError otherwise. Types:
/// F64 F32 F16 BF16, C64, I64 to I8, U64 to U8, BOOL (bytes 0 and 1 only), F8_E4M3, F8_E5M2. Tensors are views of
/// `bytes` that share `owner`; without an owner, and where the file leaves one unaligned, a copy.
RLX_API SafeTensors parse_safetensors(std::string_view bytes, std::string file = {},
                                      std::shared_ptr<const void> owner = nullptr);
/// Maps the file, which must not be changed in place while a tensor of it lives (replacing it by rename is safe).
RLX_API SafeTensors load_safetensors(const std::string& path);

/// Tensors of wide elements first, then by name, so that each is aligned. Throws ArgumentError for types that the
/// format has not (c128, i4, fnuz) and for the name `__metadata__`. The file is replaced whole or not at all.
RLX_API void write_safetensors(const std::string& path, const SafeTensors& content);

}  // namespace rlx::formats

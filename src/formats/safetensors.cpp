#include <rlx/formats/safetensors.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "mapped_file.hpp"
#include "pending_file.hpp"
#include "safetensors_header.hpp"
#include "sizes.hpp"
#include "writable.hpp"

namespace rlx::formats {

SafeTensors parse_safetensors(std::string_view bytes, std::string file, std::shared_ptr<const void> owner) {
  SafeTensorsHeader h = parse_safetensors_header(bytes, file);
  SafeTensors result;
  result.metadata = std::move(h.metadata);
  for (const SafeTensorEntry& e : h.entries) {
    const char* const data = bytes.data() + h.data_offset + e.begin;
    const std::size_t size = e.end - e.begin;
    if (e.dtype == DType::boolean)
      if (const auto bad = find_bad_bool(data, size))
        throw FormatError(file, h.data_offset + e.begin + *bad,
                          "tensor " + in_quotes(e.name) + ": a bool must be 0 or 1");
    const auto alignment = static_cast<std::uintptr_t>(bit_width(real_of(e.dtype)) / 8);
    if (owner && size > 0 && reinterpret_cast<std::uintptr_t>(data) % alignment == 0) {
      result.tensors.emplace(e.name, HostTensor::view(e.dtype, e.shape, data, owner));
      continue;
    }
    HostTensor t(e.dtype, e.shape);
    if (size > 0) std::memcpy(t.mutable_data(), data, size);
    result.tensors.emplace(e.name, std::move(t));
  }
  return result;
}

SafeTensors load_safetensors(const std::string& path) {
  const auto file = MappedFile::open(path);
  return parse_safetensors(file->bytes(), path, file);
}

void check_safetensors_entry(const std::string& name, DType t) {
  if (safetensors_dtype(t).empty())
    throw ArgumentError("tensor " + in_quotes(name) + ": safetensors has no type for " + std::string(rlx::name(t)));
  if (name == "__metadata__") throw ArgumentError("a tensor cannot be called __metadata__ in safetensors");
}

void write_safetensors(const std::string& path, const SafeTensors& content) {
  using Item = std::map<std::string, HostTensor>::value_type;
  std::vector<const Item*> order;
  for (const Item& item : content.tensors) {
    check_safetensors_entry(item.first, item.second.dtype());
    order.push_back(&item);
  }
  const auto width = [](const Item* item) { return bit_width(item->second.dtype()); };
  std::sort(order.begin(), order.end(), [&](const Item* a, const Item* b) {
    return width(a) != width(b) ? width(a) > width(b) : a->first < b->first;
  });

  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!content.metadata.empty()) header["__metadata__"] = content.metadata;
  std::int64_t offset = 0;
  for (const Item* item : order) {
    const HostTensor& t = item->second;
    header[item->first] = {
        {"dtype", safetensors_dtype(t.dtype())}, {"shape", t.shape()}, {"data_offsets", {offset, offset + t.bytes()}}};
    offset += t.bytes();
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception&) {
    throw ArgumentError("a name or a metadata text for " + in_quotes(path) + " is not UTF-8");
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > longest_safetensors_header)
    throw ArgumentError("the header would exceed the 100,000,000 bytes of the format");

  PendingFile out(path);
  const std::uint64_t length = text.size();
  out.write(&length, sizeof length);
  out.write(text);
  for (const Item* item : order) out.write(item->second.data(), static_cast<std::size_t>(item->second.bytes()));
  out.commit();
}

}  // namespace rlx::formats

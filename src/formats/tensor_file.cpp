#include <rlx/formats/hdf5.hpp>
#include <rlx/formats/matrix_market.hpp>
#include <rlx/formats/npy.hpp>
#include <rlx/formats/safetensors.hpp>
#include <rlx/formats/tensor_file.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "pending_file.hpp"
#include "writable.hpp"

namespace rlx::formats {

namespace {

enum class Kind { npy, matrix_market, safetensors, hdf5 };

struct Extension {
  std::string_view text;
  Kind kind;
  bool named;  ///< The file holds several tensors, told apart behind a colon.
};
constexpr Extension extensions[] = {
    {".npy", Kind::npy, false}, {".mtx", Kind::matrix_market, false}, {".safetensors", Kind::safetensors, true},
    {".h5", Kind::hdf5, true},  {".hdf5", Kind::hdf5, true},          {".he5", Kind::hdf5, true}};
constexpr const char* known_places = "x.npy, x.mtx, x.safetensors:NAME, x.h5:/DATASET (also .hdf5 and .he5)";
constexpr const char* default_name = "tensor";

struct TensorPlace {
  Kind kind;
  std::string path;
  std::optional<std::string> name{};
};

// The first colon behind the extension of a file of several tensors ends the path; names may look like files again.
TensorPlace parse_place(const std::string& place) {
  std::optional<TensorPlace> found;
  std::size_t first = std::string::npos;
  for (const Extension& e : extensions) {
    const std::size_t at = e.named ? place.find(std::string(e.text) + ":") : std::string::npos;
    if (at == std::string::npos || at >= first) continue;
    first = at;
    const std::size_t colon = at + e.text.size();
    found = TensorPlace{e.kind, place.substr(0, colon), place.substr(colon + 1)};
  }
  if (found) return *found;
  for (const Extension& e : extensions)
    if (place.size() > e.text.size() && place.ends_with(e.text)) return {e.kind, place};
  throw ArgumentError("the extension of '" + place + "' is unknown; known are " + known_places);
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  std::string s;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) s += " '" + names[i] + "'";
  if (names.size() > most) s += " and " + std::to_string(names.size() - most) + " more";
  return names.empty() ? " nothing" : s;
}

std::string only_name(const TensorPlace& place, const std::vector<std::string>& names) {
  if (names.size() == 1) return names.front();
  throw ArgumentError("'" + place.path + "' needs the name of a tensor behind a colon; it holds" + listed(names));
}

HostTensor read_matrix(const std::string& path) {
  MatrixMarket m = read_matrix_market(path);
  if (auto* dense = std::get_if<HostTensor>(&m.matrix)) return std::move(*dense);
  // A sparse right-hand side is a vector; a sparse matrix made dense behind one's back may be a million times its file.
  if (m.header.rows == 1 || m.header.cols == 1) return to_dense(std::get<CooMatrix>(m.matrix));
  throw ArgumentError("'" + path + "' holds a sparse matrix, expected a dense tensor");
}

std::vector<std::string> names_of(const SafeTensors& content) {
  std::vector<std::string> names;
  for (const auto& item : content.tensors) names.push_back(item.first);
  return names;
}
/// Of a file that holds several tensors.
std::vector<std::string> names_in(const TensorPlace& place) {
  return place.kind == Kind::hdf5 ? list_hdf5(place.path) : names_of(load_safetensors(place.path));
}

HostTensor read_safetensor(const TensorPlace& place) {
  SafeTensors content = load_safetensors(place.path);
  const std::vector<std::string> names = names_of(content);
  const auto found = content.tensors.find(place.name ? *place.name : only_name(place, names));
  if (found == content.tensors.end())
    throw ArgumentError("'" + place.path + "' holds no tensor '" + *place.name + "'; it holds" + listed(names));
  return found->second;
}

std::string written_name(const TensorPlace& place) {
  if (place.name && place.name->empty())
    throw ArgumentError("'" + place.path + ":' lacks the name of the tensor behind the colon");
  return place.name.value_or(default_name);
}

// A file that exists is extended, unless it is broken: then the reader's error says so and nothing is written.
bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && std::filesystem::file_size(path, ignored) > 0;
}

}  // namespace

HostTensor read_tensor(const std::string& text) {
  const TensorPlace place = parse_place(text);
  switch (place.kind) {
    case Kind::npy:
      return read_npy(place.path);
    case Kind::matrix_market:
      return read_matrix(place.path);
    case Kind::safetensors:
      return read_safetensor(place);
    case Kind::hdf5:
      break;
  }
  return read_hdf5(place.path, place.name ? *place.name : only_name(place, list_hdf5(place.path)));
}

void check_writable(const std::string& text, DType dtype, int rank) {
  const TensorPlace place = parse_place(text);
  const bool extends = is_there(place.path);
  switch (place.kind) {
    case Kind::npy:
      check_npy_type(dtype, rank);
      break;
    case Kind::matrix_market:
      check_matrix_market_type(dtype, rank);
      break;
    case Kind::safetensors:
      check_safetensors_entry(written_name(place), dtype);
      if (extends) load_safetensors(place.path);
      break;
    case Kind::hdf5:
      check_hdf5_entry(written_name(place), dtype, rank);
      if (extends) list_hdf5(place.path);
      break;
  }
  PendingFile::check(place.path);
}

bool would_replace(const std::string& written, const std::string& read) {
  const TensorPlace to = parse_place(written);
  TensorPlace from{to.kind, read};
  try {
    from = parse_place(read);
  } catch (const ArgumentError&) {}  // A graph, say: a path alone.
  std::error_code absent;
  if (!std::filesystem::equivalent(to.path, from.path, absent)) return false;
  if (to.kind != Kind::safetensors && to.kind != Kind::hdf5) return true;
  // HDF5 finds /x by x as well.
  const auto plain = [](const std::string& name) {
    return name.substr(std::min(name.find_first_not_of('/'), name.size()));
  };
  if (from.name) return plain(*from.name) == plain(written_name(to));
  const std::vector<std::string> names = names_in(from);
  return names.size() == 1 && plain(names.front()) == plain(written_name(to));
}

void write_tensor(const std::string& text, const HostTensor& tensor) {
  const TensorPlace place = parse_place(text);
  const std::string name = written_name(place);
  switch (place.kind) {
    case Kind::npy:
      return write_npy(place.path, tensor);
    case Kind::matrix_market:
      return write_matrix_market(place.path, tensor);
    case Kind::safetensors: {
      SafeTensors content = is_there(place.path) ? load_safetensors(place.path) : SafeTensors{};
      content.tensors.insert_or_assign(name, tensor);
      return write_safetensors(place.path, content);
    }
    case Kind::hdf5:
      break;
  }
  if (is_there(place.path)) update_hdf5(place.path, name, tensor);
  else write_hdf5(place.path, {{name, tensor}});
}

}  // namespace rlx::formats

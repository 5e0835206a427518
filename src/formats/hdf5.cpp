// The only file that includes hdf5.h.
#include <hdf5.h>
#include <rlx/formats/hdf5.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cfenv>
#include <cstring>
#include <optional>
#include <utility>

#include "mapped_file.hpp"
#include "pending_file.hpp"
#include "sizes.hpp"
#include "writable.hpp"

namespace rlx::formats {

namespace {

// While one lives, HDF5 prints no errors and what it does to the floating-point environment is forgotten.
class Quiet {
 public:
  Quiet() {
    std::feholdexcept(&environment_);
    H5open();
    unsigned version2 = 1;
    H5Eauto_is_v2(H5E_DEFAULT, &version2);
    version2_ = version2 != 0;
#ifndef H5_NO_DEPRECATED_SYMBOLS
    if (!version2_) {
      H5Eget_auto1(&print1_, &data_);
      H5Eset_auto1(nullptr, nullptr);
      return;
    }
#endif
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Quiet() {
    H5Eclear2(H5E_DEFAULT);
#ifndef H5_NO_DEPRECATED_SYMBOLS
    if (!version2_) H5Eset_auto1(print1_, data_);
#endif
    if (version2_) H5Eset_auto2(H5E_DEFAULT, print_, data_);
    std::fesetenv(&environment_);
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  std::fenv_t environment_;
  bool version2_ = true;
  H5E_auto2_t print_ = nullptr;
#ifndef H5_NO_DEPRECATED_SYMBOLS
  H5E_auto1_t print1_ = nullptr;
#endif
  void* data_ = nullptr;
};

class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& o) noexcept : id_(std::exchange(o.id_, -1)), close_(o.close_) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }
  /// Closing writes what is left, so it can fail.
  bool close() { return close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// The innermost message of HDF5's error stack, which is the one that names the cause.
std::string cause() {
  std::string text;
  const auto keep = [](unsigned, const H5E_error2_t* e, void* to) -> herr_t {
    if (e->desc && *e->desc) *static_cast<std::string*>(to) = e->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep, &text);
  return text.empty() ? "HDF5 does not say why" : text;
}

[[noreturn]] void fail(const std::string& path, const std::string& doing) {
  throw FormatError(path, 0, doing + ": " + cause());
}

struct FloatKind {
  DType dtype;
  std::size_t bytes, exponent_bits, bias;
};
constexpr FloatKind float_kinds[] = {{DType::f64, 8, 11, 1023}, {DType::f32, 4, 8, 127},    {DType::f16, 2, 5, 15},
                                     {DType::bf16, 2, 8, 127},  {DType::f8e4m3fn, 1, 4, 7}, {DType::f8e5m2, 1, 5, 15}};
constexpr DTypeSet known_types =
    floating | integers | complex_types | DTypeSet{DType::boolean, DType::f8e4m3fn, DType::f8e5m2};

hid_t make_float(const FloatKind& kind) {
  const hid_t t = H5Tcopy(H5T_IEEE_F32LE);
  if (kind.bytes == 4) return t;
  if (kind.bytes == 8) return H5Tclose(t), H5Tcopy(H5T_IEEE_F64LE);
  const std::size_t mantissa = 8 * kind.bytes - 1 - kind.exponent_bits;
  H5Tset_fields(t, 8 * kind.bytes - 1, mantissa, kind.exponent_bits, 0,
                mantissa);  // within f32's 32 bits, then narrowed
  H5Tset_size(t, kind.bytes);
  H5Tset_ebias(t, kind.bias);
  return t;
}

// The type of our memory, which is also what is written: little endian.
Handle type_of(DType t) {
  if (is_complex(t)) {
    const Handle part = type_of(real_of(t));
    const std::size_t bytes = static_cast<std::size_t>(bit_width(t)) / 8;
    const hid_t pair = H5Tcreate(H5T_COMPOUND, bytes);
    H5Tinsert(pair, "r", 0, part);
    H5Tinsert(pair, "i", bytes / 2, part);
    return {pair, H5Tclose};
  }
  if (t == DType::boolean) {
    const hid_t values = H5Tenum_create(H5T_STD_I8LE);
    for (const std::int8_t v : {std::int8_t{0}, std::int8_t{1}}) H5Tenum_insert(values, v ? "TRUE" : "FALSE", &v);
    return {values, H5Tclose};
  }
  for (const FloatKind& kind : float_kinds)
    if (kind.dtype == t) return {make_float(kind), H5Tclose};
  const hid_t integer = H5Tcopy(is_signed_integer(t) ? H5T_STD_I8LE : H5T_STD_U8LE);
  H5Tset_precision(integer, static_cast<std::size_t>(bit_width(t)));  // and the size with it
  return {integer, H5Tclose};
}

std::optional<DType> float_type(hid_t type) {
  std::size_t sign, exponent_at, exponent_bits, mantissa_at, mantissa_bits;
  if (H5Tget_fields(type, &sign, &exponent_at, &exponent_bits, &mantissa_at, &mantissa_bits) < 0) return std::nullopt;
  for (const FloatKind& kind : float_kinds)
    if (H5Tget_size(type) == kind.bytes && exponent_bits == kind.exponent_bits && sign == 8 * kind.bytes - 1 &&
        mantissa_at == 0 && mantissa_bits == exponent_at && exponent_at + exponent_bits == sign &&
        H5Tget_ebias(type) == kind.bias)
      return kind.dtype;
  return std::nullopt;
}

std::optional<DType> known_type(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return float_type(type);
    case H5T_INTEGER: {
      const std::size_t bits = 8 * H5Tget_size(type);
      if (H5Tget_precision(type) != bits) return std::nullopt;
      const bool has_sign = H5Tget_sign(type) != H5T_SGN_NONE;
      for (const DType t :
           {DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16, DType::u32, DType::u64})
        if (static_cast<std::size_t>(bit_width(t)) == bits && is_signed_integer(t) == has_sign) return t;
      return std::nullopt;
    }
    case H5T_ENUM: {
      std::int8_t no = -1, yes = -1;
      if (H5Tget_size(type) != 1 || H5Tget_nmembers(type) != 2 || H5Tenum_valueof(type, "FALSE", &no) < 0 ||
          H5Tenum_valueof(type, "TRUE", &yes) < 0 || no != 0 || yes != 1)
        return std::nullopt;
      return DType::boolean;
    }
    case H5T_COMPOUND: {
      const int r = H5Tget_nmembers(type) == 2 ? H5Tget_member_index(type, "r") : -1;
      const int i = r >= 0 ? H5Tget_member_index(type, "i") : -1;
      if (i < 0) return std::nullopt;
      const Handle real(H5Tget_member_type(type, static_cast<unsigned>(r)), H5Tclose);
      const Handle imaginary(H5Tget_member_type(type, static_cast<unsigned>(i)), H5Tclose);
      const auto part = known_type(real), other = known_type(imaginary);
      if (part != other) return std::nullopt;
      return part == DType::f64   ? std::optional(DType::c128)
             : part == DType::f32 ? std::optional(DType::c64)
                                  : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

void check_name(const std::string& name) {
  if (name.empty() || name.back() == '/' || name.find('\0') != std::string::npos)
    throw ArgumentError("an HDF5 dataset cannot be called " + in_quotes(name));
}

Handle open_file(const std::string& path) {
  if (MappedFile::open(path)->bytes().empty())  // also the plain words for what is missing or a folder
    throw FormatError(path, 0, "the file is empty, expected an HDF5 file");
  Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (file < 0) fail(path, "cannot open as HDF5");
  return file;
}

std::vector<std::string> list_datasets(hid_t file, const std::string& path) {
  std::vector<std::string> names;
  const auto visit = [](hid_t group, const char* name, const H5L_info_t*, void* to) -> herr_t {
    const Handle object(H5Oopen(group, name, H5P_DEFAULT), H5Oclose);  // fails for links that lead nowhere
    if (object >= 0 && H5Iget_type(object) == H5I_DATASET)
      static_cast<std::vector<std::string>*>(to)->push_back(std::string("/") + name);
    return 0;
  };
  if (H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, visit, &names) < 0) fail(path, "cannot list the datasets");
  return names;
}

void write_dataset(hid_t file, const std::string& path, const std::string& name, const HostTensor& t) {
  check_hdf5_entry(name, t.dtype(), t.rank());
  const std::vector<hsize_t> dims(t.shape().begin(), t.shape().end());
  const Handle space(dims.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(t.rank(), dims.data(), nullptr), H5Sclose);
  const Handle type = type_of(t.dtype()), links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links, 1);
  const Handle set(H5Dcreate2(file, name.c_str(), type, space, links, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  if (set < 0) fail(path, "cannot create the dataset " + in_quotes(name));
  if (t.numel() > 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, t.data()) < 0)
    fail(path, "cannot write the dataset " + in_quotes(name));
}

// A file that HDF5 writes in memory. On a disk that is full a close fails, is tried again when the process ends, and
// crashes it; so the library never writes to a disk.
class MemoryFile {
 public:
  /// With this content, or a new file where there is none.
  MemoryFile(const std::string& path, std::string_view content)
      : path_(path), access_(in_memory(content)), file_(open(path, content.empty(), access_), H5Fclose) {
    if (file_ < 0) fail(path, content.empty() ? "cannot create as HDF5" : "cannot open as HDF5");
  }
  operator hid_t() const { return file_; }

  void write_to(PendingFile& out) const {
    void* memory = nullptr;  // the driver gives the address of its pointer
    if (H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0 || H5Fget_vfd_handle(file_, access_, &memory) < 0 || !memory)
      fail(path_, "cannot write");
    const ssize_t bytes = H5Fget_file_image(file_, nullptr, 0);  // The memory is longer, by a part of an increment.
    if (bytes < 0) fail(path_, "cannot write");
    out.write(*static_cast<void**>(memory), static_cast<std::size_t>(bytes));
  }

 private:
  static Handle in_memory(std::string_view content) {
    constexpr std::size_t increment = 1 << 20;
    Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_fapl_core(access, increment, false);
    if (!content.empty()) H5Pset_file_image(access, const_cast<char*>(content.data()), content.size());  // copied
    return access;
  }
  /// The name is never that of a file: the driver refuses content for one that exists.
  static hid_t open(const std::string& path, bool fresh, hid_t access) {
    const std::string name = path + "/in memory";
    return fresh ? H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access)
                 : H5Fopen(name.c_str(), H5F_ACC_RDWR, access);
  }

  const std::string& path_;
  const Handle access_, file_;
};

}  // namespace

void check_hdf5_entry(const std::string& name, DType t, int rank) {
  check_name(name);
  if (!known_types.contains(t)) throw ArgumentError("HDF5 files hold no " + std::string(rlx::name(t)));
  if (rank > H5S_MAX_RANK) throw ArgumentError("HDF5 has no datasets of " + std::to_string(rank) + " dimensions");
}

HostTensor read_hdf5(const std::string& path, const std::string& dataset) {
  check_name(dataset);
  const Quiet quiet;
  const Handle file = open_file(path);
  const Handle object(H5Oopen(file, dataset.c_str(), H5P_DEFAULT), H5Oclose);
  if (object < 0 || H5Iget_type(object) != H5I_DATASET) {
    std::string known;
    for (const std::string& name : list_datasets(file, path)) {
      if (known.size() > 400) {
        known += " ...";
        break;
      }
      known += " " + name;
    }
    throw ArgumentError(path + " holds no dataset " + in_quotes(dataset) +
                        "; it holds:" + (known.empty() ? " none" : known));
  }
  const std::string what = "dataset " + in_quotes(dataset);
  const Handle type(H5Dget_type(object), H5Tclose), space(H5Dget_space(object), H5Sclose);
  if (type < 0 || space < 0) fail(path, "cannot examine the " + what);
  const auto dtype = known_type(type);
  if (!dtype)
    throw FormatError(path, 0, what + " has a type that is not supported; known are " + known_types.to_string());
  const H5S_class_t kind = H5Sget_simple_extent_type(space);
  if (kind != H5S_SCALAR && kind != H5S_SIMPLE) throw FormatError(path, 0, what + " has no dataspace with elements");
  const int rank = kind == H5S_SCALAR ? 0 : H5Sget_simple_extent_ndims(space);
  if (rank < 0) fail(path, "cannot examine the " + what);
  std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
  if (rank > 0 && H5Sget_simple_extent_dims(space, dims.data(), nullptr) != rank)
    fail(path, "cannot examine the " + what);
  const std::vector<std::int64_t> shape(dims.begin(), dims.end());
  const auto bytes = checked_bytes(*dtype, shape);
  if (!bytes)
    throw FormatError(path, 0, what + " " + std::string(name(*dtype)) + shape_text(shape) + " exceeds 63 bits");

  HostTensor t(*dtype, shape);
  if (*bytes == 0) return t;
  const Handle memory = type_of(*dtype);
  if (H5Dread(object, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, t.mutable_data()) < 0)
    fail(path, "cannot read the " + what);
  if (*dtype == DType::boolean && find_bad_bool(t.data(), static_cast<std::size_t>(*bytes)))
    throw FormatError(path, 0, what + ": a bool must be 0 or 1");
  return t;
}

std::vector<std::string> list_hdf5(const std::string& path) {
  const Quiet quiet;
  const Handle file = open_file(path);
  return list_datasets(file, path);
}

void write_hdf5(const std::string& path, const std::map<std::string, HostTensor>& datasets) {
  const Quiet quiet;
  PendingFile out(path);
  const MemoryFile file(path, {});
  for (const auto& [name, tensor] : datasets) write_dataset(file, path, name, tensor);
  file.write_to(out);
  out.commit();
}

void update_hdf5(const std::string& path, const std::string& dataset, const HostTensor& tensor) {
  check_name(dataset);
  const Quiet quiet;
  PendingFile out(path);
  const MemoryFile file(path, MappedFile::open(path)->bytes());
  bool replaces = false;
  {
    const Handle old(H5Oopen(file, dataset.c_str(), H5P_DEFAULT), H5Oclose);
    replaces = old >= 0;
    if (replaces && H5Iget_type(old) != H5I_DATASET)
      throw ArgumentError(in_quotes(dataset) + " in " + path + " is a group");
  }
  if (replaces && H5Ldelete(file, dataset.c_str(), H5P_DEFAULT) < 0)
    fail(path, "cannot replace the dataset " + in_quotes(dataset));
  write_dataset(file, path, dataset, tensor);
  file.write_to(out);
  out.commit();
}

}  // namespace rlx::formats

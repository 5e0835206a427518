#include <rlx/formats/hdf5.hpp>
#include <rlx/ir/counted.hpp>

#include "hdf5_library.hpp"
#include "hdf5_types.hpp"
#include "mapped_file.hpp"
#include "pending_file.hpp"
#include "sizes.hpp"
#include "writable.hpp"

namespace rlx::formats {

namespace {

void check_name(const std::string& name) {
  if (name.empty() || name.back() == '/' || name.find('\0') != std::string::npos)
    throw ArgumentError("an HDF5 dataset cannot be called " + in_quotes(name));
}

Hdf5Handle open_file(const std::string& path) {
  if (MappedFile::open(path)->bytes().empty())  // also the plain words for what is missing or a folder
    throw FormatError(path, 0, "the file is empty, expected an HDF5 file");
  Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (file < 0) fail_hdf5(path, "cannot open as HDF5");
  return file;
}

std::vector<std::string> list_datasets(hid_t file, const std::string& path) {
  std::vector<std::string> names;
  const auto visit = [](hid_t group, const char* name, const H5L_info_t*, void* to) -> herr_t {
    const Hdf5Handle object(H5Oopen(group, name, H5P_DEFAULT), H5Oclose);  // fails for links that lead nowhere
    if (object >= 0 && H5Iget_type(object) == H5I_DATASET)
      static_cast<std::vector<std::string>*>(to)->push_back(std::string("/") + name);
    return 0;
  };
  if (H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, visit, &names) < 0) fail_hdf5(path, "cannot list the datasets");
  return names;
}

void write_dataset(hid_t file, const std::string& path, const std::string& name, const HostTensor& t) {
  check_hdf5_entry(name, t.dtype(), t.rank());
  const std::vector<hsize_t> dims(t.shape().begin(), t.shape().end());
  const Hdf5Handle space(dims.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(t.rank(), dims.data(), nullptr),
                         H5Sclose);
  const Hdf5Handle type = hdf5_type(t.dtype()), links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links, 1);
  const Hdf5Handle set(H5Dcreate2(file, name.c_str(), type, space, links, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  if (set < 0) fail_hdf5(path, "cannot create the dataset " + in_quotes(name));
  if (t.numel() > 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, t.data()) < 0)
    fail_hdf5(path, "cannot write the dataset " + in_quotes(name));
}

// A file that HDF5 writes in memory. On a disk that is full a close fails, is tried again when the process ends, and
// crashes it; so the library never writes to a disk.
class MemoryFile {
 public:
  /// With this content, or a new file where there is none.
  MemoryFile(const std::string& path, std::string_view content)
      : path_(path), access_(in_memory(content)), file_(open(path, content.empty(), access_), H5Fclose) {
    if (file_ < 0) fail_hdf5(path, content.empty() ? "cannot create as HDF5" : "cannot open as HDF5");
  }
  operator hid_t() const { return file_; }

  void write_to(PendingFile& out) const {
    void* memory = nullptr;  // the driver gives the address of its pointer
    if (H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0 || H5Fget_vfd_handle(file_, access_, &memory) < 0 || !memory)
      fail_hdf5(path_, "cannot write");
    const ssize_t bytes = H5Fget_file_image(file_, nullptr, 0);  // The memory is longer, by a part of an increment.
    if (bytes < 0) fail_hdf5(path_, "cannot write");
    out.write(*static_cast<void**>(memory), static_cast<std::size_t>(bytes));
  }

 private:
  static Hdf5Handle in_memory(std::string_view content) {
    constexpr std::size_t increment = 1 << 20;
    Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
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
  const Hdf5Handle access_, file_;
};

}  // namespace

void check_hdf5_entry(const std::string& name, DType t, int rank) {
  check_name(name);
  if (!hdf5_dtypes.contains(t)) throw ArgumentError("HDF5 files hold no " + std::string(rlx::name(t)));
  if (rank > H5S_MAX_RANK) throw ArgumentError("HDF5 has no datasets of " + counted(rank, "dimension"));
}

HostTensor read_hdf5(const std::string& path, const std::string& dataset) {
  check_name(dataset);
  const QuietHdf5 quiet;
  const Hdf5Handle file = open_file(path);
  const Hdf5Handle object(H5Oopen(file, dataset.c_str(), H5P_DEFAULT), H5Oclose);
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
  const Hdf5Handle type(H5Dget_type(object), H5Tclose), space(H5Dget_space(object), H5Sclose);
  if (type < 0 || space < 0) fail_hdf5(path, "cannot examine the " + what);
  const auto dtype = dtype_of_hdf5(type);
  if (!dtype)
    throw FormatError(path, 0, what + " has a type that is not supported; known are " + hdf5_dtypes.to_string());
  const H5S_class_t kind = H5Sget_simple_extent_type(space);
  if (kind != H5S_SCALAR && kind != H5S_SIMPLE) throw FormatError(path, 0, what + " has no dataspace with elements");
  const int rank = kind == H5S_SCALAR ? 0 : H5Sget_simple_extent_ndims(space);
  if (rank < 0) fail_hdf5(path, "cannot examine the " + what);
  std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
  if (rank > 0 && H5Sget_simple_extent_dims(space, dims.data(), nullptr) != rank)
    fail_hdf5(path, "cannot examine the " + what);
  const std::vector<std::int64_t> shape(dims.begin(), dims.end());
  const auto bytes = checked_bytes(*dtype, shape);
  if (!bytes)
    throw FormatError(path, 0, what + " " + std::string(name(*dtype)) + shape_text(shape) + " exceeds 63 bits");

  HostTensor t(*dtype, shape);
  if (*bytes == 0) return t;
  const Hdf5Handle memory = hdf5_type(*dtype);
  if (H5Dread(object, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, t.mutable_data()) < 0)
    fail_hdf5(path, "cannot read the " + what);
  if (*dtype == DType::boolean && find_bad_bool(t.data(), static_cast<std::size_t>(*bytes)))
    throw FormatError(path, 0, what + ": a bool must be 0 or 1");
  return t;
}

std::vector<std::string> list_hdf5(const std::string& path) {
  const QuietHdf5 quiet;
  const Hdf5Handle file = open_file(path);
  return list_datasets(file, path);
}

void write_hdf5(const std::string& path, const std::map<std::string, HostTensor>& datasets) {
  const QuietHdf5 quiet;
  PendingFile out(path);
  const MemoryFile file(path, {});
  for (const auto& [name, tensor] : datasets) write_dataset(file, path, name, tensor);
  file.write_to(out);
  out.commit();
}

void update_hdf5(const std::string& path, const std::string& dataset, const HostTensor& tensor) {
  check_name(dataset);
  const QuietHdf5 quiet;
  PendingFile out(path);
  const MemoryFile file(path, MappedFile::open(path)->bytes());
  bool replaces = false;
  {
    const Hdf5Handle old(H5Oopen(file, dataset.c_str(), H5P_DEFAULT), H5Oclose);
    replaces = old >= 0;
    if (replaces && H5Iget_type(old) != H5I_DATASET)
      throw ArgumentError(in_quotes(dataset) + " in " + path + " is a group");
  }
  if (replaces && H5Ldelete(file, dataset.c_str(), H5P_DEFAULT) < 0)
    fail_hdf5(path, "cannot replace the dataset " + in_quotes(dataset));
  write_dataset(file, path, dataset, tensor);
  file.write_to(out);
  out.commit();
}

}  // namespace rlx::formats

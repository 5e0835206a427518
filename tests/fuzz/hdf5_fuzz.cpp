// Datasets of any class, size and shape, in a file that HDF5 itself writes, either are read whole or are a FormatError
// or an ArgumentError. (Any bytes as a file would test HDF5, whose faults on damaged files are its own.)
#include <hdf5.h>
#include <rlx/formats/hdf5.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

namespace {

/// The bytes of the input, one after the other; zeros behind its end.
struct Bytes {
  const std::uint8_t *at, *end;
  std::uint8_t next() { return at < end ? *at++ : 0; }
  std::uint8_t below(int n) { return static_cast<std::uint8_t>(next() % n); }
};

/// A number, or anything but within another type: HDF5 1.10 itself ends when it is to write some of these.
hid_t type_of(Bytes& in, bool within = false) {
  switch (in.below(within ? 2 : 8)) {
    case 0: {
      const hid_t t = H5Tcopy(in.below(2) ? H5T_STD_I8LE : H5T_STD_U8BE);
      H5Tset_size(t, 1u + in.below(9));
      H5Tset_order(t, in.below(2) ? H5T_ORDER_LE : H5T_ORDER_BE);
      if (in.below(4) == 0) H5Tset_precision(t, 1u + in.next());
      return t;
    }
    case 1: {
      const hid_t known[] = {H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_IEEE_F64BE, H5T_NATIVE_LDOUBLE};
      const hid_t t = H5Tcopy(known[in.below(5)]);
      if (in.below(2) == 0) return t;  // Else one of other fields, as f16 and the like are.
      const unsigned bytes = 1u + in.below(4), exponent = std::min(2u + in.below(8), 8 * bytes - 2),
                     mantissa = 8 * bytes - 1 - exponent;
      H5Tset_fields(t, exponent + mantissa, mantissa, exponent, 0, mantissa);
      H5Tset_size(t, bytes);
      H5Tset_ebias(t, in.next());
      return t;
    }
    case 2: {
      const hid_t t = H5Tcopy(H5T_C_S1);
      H5Tset_size(t, in.below(2) ? H5T_VARIABLE : std::size_t{1} + in.below(16));
      return t;
    }
    case 3: {
      const hid_t t = H5Tcreate(H5T_OPAQUE, 1u + in.below(16));
      H5Tset_tag(t, "opaque");
      return t;
    }
    case 4: {
      const hid_t t = H5Tenum_create(in.below(2) ? H5T_STD_I8LE : H5T_STD_I16LE);
      const char* const names[] = {"FALSE", "TRUE", "MAYBE"};
      for (int i = in.below(4), k = 0; k < i; ++k) {
        const std::int16_t value = in.below(4);
        H5Tenum_insert(t, names[in.below(3)], &value);
      }
      return t;
    }
    case 5: {
      const hid_t t = H5Tcreate(H5T_COMPOUND, 64);
      const char* const names[] = {"r", "i", "x"};
      for (int i = in.below(4), k = 0; k < i; ++k) {
        const hid_t part = type_of(in, true);
        const char* const name = names[in.below(3)];
        H5Tinsert(t, name, in.below(40), part);
        H5Tclose(part);
      }
      return t;
    }
    case 6: {
      const hid_t part = type_of(in, true);
      const hsize_t dims[] = {1u + in.below(4), 1u + in.below(4)};
      const hid_t t = H5Tarray_create2(part, 1u + in.below(2), dims);
      H5Tclose(part);
      return t;
    }
    default: {
      const hid_t part = type_of(in, true), t = H5Tvlen_create(part);
      H5Tclose(part);
      return t;
    }
  }
}

/// Up to three small dimensions, or as many as HDF5 has of one each; one of them may be large, quick or beyond memory.
hid_t space_of(Bytes& in) {
  switch (in.below(6)) {
    case 0:
      return H5Screate(H5S_SCALAR);
    case 1:
      return H5Screate(H5S_NULL);
    default: {
      std::vector<hsize_t> dims(in.below(in.below(8) == 0 ? H5S_MAX_RANK + 1 : 4));
      for (hsize_t& d : dims) d = dims.size() < 4 ? in.below(5) : in.below(16) != 15;
      if (!dims.empty() && in.below(8) == 0)
        dims[in.below(static_cast<int>(dims.size()))] = hsize_t{1} << (in.below(2) ? in.below(12) : 40 + in.below(24));
      return H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
    }
  }
}

/// Up to four datasets, links and groups. Storage is chunked or comes when it is written to, so that sizes may be huge.
bool write_file(const char* path, Bytes in) {
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0) return false;
  const char* const names[] = {"/a", "/g/b", "/g/h/c", "/\xff\n"};
  for (const char* name : names) {
    if (in.below(3) == 0) continue;
    if (in.below(12) == 0) {
      H5Lcreate_soft(in.below(2) ? "/a" : "/nowhere", file, name, H5P_DEFAULT, H5P_DEFAULT);
      continue;
    }
    const hid_t type = type_of(in), space = space_of(in), links = H5Pcreate(H5P_LINK_CREATE),
                storage = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank > 0 && in.below(2)) {  // Small ones: a chunk that is written to is there whole.
      const std::vector<hsize_t> chunk(static_cast<std::size_t>(rank), rank < 4 ? 1u + in.below(3) : 1u);
      H5Pset_chunk(storage, rank, chunk.data());
    }
    const hid_t set = H5Dcreate2(file, name, type, space, links, storage, H5P_DEFAULT);
    const hssize_t elements = set >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
    // Numbers of any bits, which a bool is not.
    if (elements > 0 && elements < 64 && H5Tdetect_class(type, H5T_VLEN) <= 0 && H5Tis_variable_str(type) <= 0 &&
        H5Tget_size(type) < 4096) {
      std::vector<std::uint8_t> content(static_cast<std::size_t>(elements) * H5Tget_size(type));
      for (std::uint8_t& byte : content) byte = in.next();
      if (H5Tdetect_class(type, H5T_STRING) <= 0) H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, content.data());
    }
    if (set >= 0) H5Dclose(set);
    for (const hid_t list : {links, storage}) H5Pclose(list);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
  }
  return H5Fclose(file) >= 0;
}

/// Gone with the process.
struct TempFile {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("rlx_hdf5_fuzz_" + std::to_string(::getpid()))).string();
  ~TempFile() { ::unlink(path.c_str()); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  static const TempFile file;
  if (!write_file(file.path.c_str(), {data, data + size})) return 0;
  for (const std::string& name : rlx::formats::list_hdf5(file.path)) {
    try {
      const rlx::HostTensor t = rlx::formats::read_hdf5(file.path, name);
      if (t.numel() > 0) (void)t.get_c128(t.numel() - 1);
    } catch (const rlx::MemoryError&) {
    } catch (const rlx::FormatError&) {
    } catch (const rlx::ArgumentError&) {  // A link may lead to no dataset.
    }
  }
  return 0;
}

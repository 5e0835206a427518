#include <rlx/ir/error.hpp>
#include <rlx/ir/host_sparse.hpp>

namespace rlx {

void check_arrays(const HostSparse& a, const std::string& what) {
  const auto check = [&](const char* array, const HostTensor& held, DType t, const Dim& length) {
    const Type is = type_of(held), expected = tensor(t, {length});
    if (!(is == expected))
      throw ArgumentError(what + ": the " + array + " of " + to_string(Type(a.type)) + " are " + to_string(is) +
                          ", expected " + to_string(expected));
  };
  if (a.type.shape.size() != 2)
    throw ArgumentError(what + ": a sparse value has two dimensions, not " + to_string(Type(a.type)));
  if (a.type.format == SparseFormat::csr) check("offsets", a.offsets, a.type.index, a.type.shape[0] + 1);
  if (a.type.format == SparseFormat::csc) check("offsets", a.offsets, a.type.index, a.type.shape[1] + 1);
  check("indices", a.indices, a.type.index, a.type.entries);
  check("values", a.values, a.type.dtype, a.type.entries);
}

}  // namespace rlx

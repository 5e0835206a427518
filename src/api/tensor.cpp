// The members of Tensor and Csr.
#include <rlx/csr.hpp>

#include "api/trace.hpp"

#include <rlx/ir/counted.hpp>
#include <rlx/ir/host_sparse.hpp>
#include <rlx/ops/build.hpp>

#include <algorithm>
#include <cstring>

namespace rlx {

Tensor::Tensor(Handle h) : Handle(std::move(h)) {
  if (const Type t = type(); !std::holds_alternative<TensorType>(t))
    throw ArgumentError("a tensor was expected, not " + to_string(t));
}

TensorType Tensor::tensor_type() const { return std::get<TensorType>(type()); }

std::int64_t Tensor::dim(int axis) const {
  const Extents s = shape();
  const int at = axis < 0 ? axis + static_cast<int>(s.size()) : axis;
  if (at < 0 || at >= static_cast<int>(s.size()))
    throw ArgumentError("there is no dimension " + std::to_string(axis) + " of " + to_string(type()));
  return s[static_cast<std::size_t>(at)];
}

HostTensor Tensor::blank(DType t, std::size_t count, const std::optional<Extents>& shape) {
  HostTensor r(t, shape.value_or(Extents{static_cast<std::int64_t>(count)}));
  if (r.numel() != static_cast<std::int64_t>(count))
    throw ArgumentError(counted(count, "element") + " given for " + to_string(type_of(HostValue(r))) + ", which has " +
                        std::to_string(r.numel()));
  return r;
}

Tensor Tensor::from_bools(const std::vector<bool>& values, const std::optional<Extents>& shape) {
  HostTensor r = blank(DType::boolean, values.size(), shape);
  for (std::size_t i = 0; i < values.size(); ++i) r.set_i64(static_cast<std::int64_t>(i), values[i]);
  return r;
}

void Tensor::fill(const void* from, std::size_t bytes) {
  HostTensor t = host_tensor();
  if (bytes > 0) std::memcpy(t.mutable_data(), from, bytes);
  *this = Tensor(std::move(t));
}

const HostTensor& Tensor::elements(DType wanted) const {
  const HostTensor& t = host_tensor();
  if (t.dtype() != wanted)
    throw ArgumentError("elements of type " + std::string(name(t.dtype())) + " were asked for as " +
                        std::string(name(wanted)));
  return t;
}

const HostTensor& Tensor::only() const {
  const HostTensor& t = host_tensor();
  if (t.numel() != 1) throw ArgumentError("one element was asked for of " + to_string(type()));
  return t;
}

// --- Csr.
namespace {

void check_contents(std::int64_t columns, const HostTensor& offsets, const HostTensor& indices) {
  const std::int64_t rows = offsets.numel() - 1, entries = indices.numel();
  const auto refuse = [](const std::string& why) { throw ArgumentError("arrays of a csr matrix: " + why); };
  if (offsets.get_i64(0) != 0 || offsets.get_i64(rows) != entries)
    refuse("offsets run from " + std::to_string(offsets.get_i64(0)) + " to " + std::to_string(offsets.get_i64(rows)) +
           ", not from 0 to " + std::to_string(entries));
  for (std::int64_t i = 0; i < rows; ++i)
    if (offsets.get_i64(i) > offsets.get_i64(i + 1))
      refuse("the offset of row " + std::to_string(i + 1) + " is smaller than the one before");
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t k = offsets.get_i64(i); k < offsets.get_i64(i + 1); ++k) {
      const std::int64_t c = indices.get_i64(k);
      if (c < 0 || c >= columns)
        refuse("column " + std::to_string(c) + " in row " + std::to_string(i) + " of a matrix with " +
               counted(columns, "column"));
      if (k > offsets.get_i64(i) && c <= indices.get_i64(k - 1))
        refuse("columns of row " + std::to_string(i) + " do not ascend");
    }
}

}  // namespace

Csr::Csr(Handle h) : Handle(std::move(h)) {
  const Type t = type();
  if (const auto* s = std::get_if<SparseType>(&t); !s || s->format != SparseFormat::csr)
    throw ArgumentError("a csr matrix was expected, not " + to_string(t));
  if (!is_traced()) rlx::check_arrays(std::get<HostSparse>(host()), "arrays of a csr matrix");
}

Csr::Csr(std::int64_t columns, const Tensor& offsets, const Tensor& indices, const Tensor& values) {
  if (offsets.rank() != 1 || indices.rank() != 1 || values.rank() != 1 || offsets.numel() < 1 ||
      indices.numel() != values.numel() || columns < 0)
    throw ArgumentError("arrays of a csr matrix are vectors: offsets [rows + 1], indices and values [entries]");
  if (offsets.dtype() != indices.dtype() || !index_types.contains(offsets.dtype()))
    throw ArgumentError("offsets and indices of a csr matrix are both i32 or both i64");
  if (!offsets.is_traced() && !indices.is_traced())
    check_contents(columns, offsets.host_tensor(), indices.host_tensor());
  if (!offsets.is_traced() && !indices.is_traced() && !values.is_traced()) {
    const SparseType type{
        SparseFormat::csr, values.dtype(), offsets.dtype(), {offsets.numel() - 1, columns}, indices.numel()};
    *this =
        Csr(Handle(HostValue(HostSparse{type, offsets.host_tensor(), indices.host_tensor(), values.host_tensor()})));
    return;
  }
  *this = Csr(call("sparse.assemble", {offsets, indices, values}, ops::AssembleAttrs{columns}, Here::nowhere())[0]);
}

SparseType Csr::sparse_type() const { return std::get<SparseType>(type()); }

namespace {
// Of a concrete matrix the arrays are at hand.
Tensor part(const Csr& a, std::size_t i) {
  if (a.is_traced()) return Tensor(call("sparse.parts", {a}, {}, Here::nowhere())[i]);
  const auto& s = std::get<HostSparse>(a.host());
  return i == 0 ? s.offsets : i == 1 ? s.indices : s.values;
}
}  // namespace

Tensor Csr::offsets() const { return part(*this, 0); }
Tensor Csr::indices() const { return part(*this, 1); }
Tensor Csr::values() const { return part(*this, 2); }

Csr Csr::with_values(const Tensor& values) const {
  if (is_traced() || values.is_traced())
    return Csr(
        call("sparse.assemble", {offsets(), indices(), values}, ops::AssembleAttrs{columns()}, Here::nowhere())[0]);
  return Csr(columns(), offsets(), indices(), values);
}

}  // namespace rlx

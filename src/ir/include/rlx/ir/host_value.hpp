// Values on the host, of every type: what references take and return.
#pragma once
#include <rlx/ir/host_tensor.hpp>
#include <rlx/ir/type.hpp>

#include <functional>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace rlx {

/// The arrays of a sparse value: for csr row offsets, column indices, values.
struct HostSparse {
  SparseType type;
  HostTensor offsets, indices, values;
};

/// A resource that a reference made; `data` is what that kind's operators agree on.
struct HostResource {
  ResourceType type;
  std::shared_ptr<const void> data;
};

struct HostToken {};

using HostValue = std::variant<HostTensor, HostSparse, HostResource, HostToken>;
using HostValues = std::vector<HostValue>;

RLX_API Type type_of(const HostValue& v);

/// What a host reference is called with.
struct ReferenceCall {
  std::span<const HostValue> in;
  std::span<const Type> results;  ///< Constant types that the results must have.
  /// Evaluates region `index` of the node on these arguments.
  std::function<HostValues(std::size_t index, std::span<const HostValue> arguments)> region;

  const HostTensor& tensor(std::size_t i) const { return std::get<HostTensor>(in[i]); }
  const HostSparse& sparse(std::size_t i) const { return std::get<HostSparse>(in[i]); }
  const HostResource& resource(std::size_t i) const { return std::get<HostResource>(in[i]); }
  const TensorType& result(std::size_t i = 0) const { return std::get<TensorType>(results[i]); }
  /// A zero tensor of the type of result `i`.
  HostTensor make(std::size_t i = 0) const { return HostTensor(result(i).dtype, constant_shape(result(i).shape)); }
};

}  // namespace rlx

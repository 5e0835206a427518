// What a sparse value on the host must hold.
#pragma once
#include <rlx/ir/host_value.hpp>
#include <rlx/ir/shape.hpp>

#include <string>

namespace rlx {

/// Refuses a sparse value whose arrays are not those of its type: with csr, offsets [rows + 1] and indices [entries] of
/// the index dtype and values [entries] of the type's. What the arrays hold is not looked at. ArgumentError, which
/// begins with `what` and says which array is what, and what was expected.
RLX_API void check_arrays(const HostSparse& a, const std::string& what);

/// As bind_symbols of its type, which is what a value says that it is: the arrays of a sparse one are checked to be
/// those of the type, too. ArgumentError.
RLX_API void bind_symbols(const Type& declared, const HostValue& actual, const std::string& what, Bindings& bindings);

}  // namespace rlx

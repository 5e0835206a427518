// What a sparse value on the host must hold.
#pragma once
#include <rlx/ir/host_value.hpp>

#include <string>

namespace rlx {

/// Refuses a sparse value whose arrays are not those of its type: with csr, offsets [rows + 1] and indices [entries] of
/// the index dtype and values [entries] of the type's. What the arrays hold is not looked at. ArgumentError, which
/// begins with `what` and says which array is what, and what was expected.
RLX_API void check_arrays(const HostSparse& a, const std::string& what);

}  // namespace rlx

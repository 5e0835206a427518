// OpenCL C 1.2 with fp64, as a dialect of the source printer.
#pragma once
#include "compile/emit_source/dialect.hpp"

namespace rlx::oneapi {

extern const emit_source::Dialect opencl_c;

/// The checked kernels' record in device memory: number of the first check that failed (0: none), padding, its index.
/// One thread wins the exchange and writes the index; the host reads it after the queue is empty.
inline constexpr std::int64_t check_record_bytes = 16;

}  // namespace rlx::oneapi

// What each format cannot hold, told by type and rank alone: asked by its writer, and by check_writable before there is
// a tensor. Each is defined beside its writer and throws ArgumentError.
#pragma once
#include <rlx/ir/dtype.hpp>

#include <string>

namespace rlx::formats {

void check_npy_type(DType t, int rank);
void check_matrix_market_type(DType t, int rank);
void check_safetensors_entry(const std::string& name, DType t);
void check_hdf5_entry(const std::string& name, DType t, int rank);

}  // namespace rlx::formats

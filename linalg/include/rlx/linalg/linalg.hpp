// Linear algebra, all of it: operators for graphs (build.hpp), functions of Tensor and Csr (tensor.hpp), and Solver for
// programs that have a matrix.
#pragma once
#include <rlx/linalg/build.hpp>
#include <rlx/linalg/csr_view.hpp>
#include <rlx/linalg/register.hpp>
#include <rlx/linalg/solver.hpp>
#include <rlx/linalg/tensor.hpp>

#include <string>

namespace rlx::linalg {

/// The separately loaded library of sparse direct solvers: whether it is there, and what it is or where it was looked
/// for.
struct Plugin {
  std::string name;
  bool loaded = false;
  std::string path, versions;
  std::vector<std::string> looked_for;
};
/// Loads it if it was not yet.
RLX_API Plugin direct_solvers();

}  // namespace rlx::linalg

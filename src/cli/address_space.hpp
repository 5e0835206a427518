// The limit on address space (ulimit -v), which must be judged before anything is computed.
#pragma once

namespace rlx::cli {

/// Throws MemoryError where the limit leaves too little for the threads of OpenBLAS. They start with the program, take
/// 128 MiB each, and where they cannot have them they ask again for ever: the program would hang in its first BLAS call
/// or, at the latest, when it ends. Whoever catches it must leave by _exit, since those threads may be waiting already.
void check_address_space();

}  // namespace rlx::cli

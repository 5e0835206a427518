// The device's threads as an execution space of Kokkos, in which hand-written host kernels are written:
//
//   Kokkos::parallel_for("linalg.scale", Kokkos::RangePolicy<HostPool>(0, n, Kokkos::ChunkSize(1 << 14)),
//                        [=](std::int64_t i) { y(i) = a * x(i); });
//
// Kokkos' headers are all there is of it: it is neither linked nor initialised, and no symbol of it leaves a library
// (hooks.cpp). Kernels include this header in files that are compiled for the build's own instruction level, never in
// those of one level (*_avx2.cpp, *_avx512.cpp): its templates are weak symbols, and the linker might choose the copy
// that was compiled for the newest processor for all.
#pragma once
#include "range.hpp"
#include "space.hpp"
#include "team.hpp"

namespace rlx::cpu {

/// Row-major memory that somebody else owns: HostView<float**> x(data, rows, columns).
template <class T>
using HostView = Kokkos::View<T, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

}  // namespace rlx::cpu

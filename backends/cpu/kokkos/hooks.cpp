// What Kokkos' headers want of its library, for the one that is not linked: each library of ours has its own, hidden
// copy of this file, so that none needs or exports a symbol of Kokkos, and a program may bring the Kokkos it likes.
// Tools that Kokkos calls at the begin and end of a pattern are not there, its own allocations are not made (views of
// ours are unmanaged), and where Kokkos aborts an InternalError is thrown. A declaration that differs in another
// version does not compile here, and one that is missing here fails at the link (-z defs).
#include "space.hpp"

#include <rlx/ir/error.hpp>

#include <string>

namespace {
[[noreturn]] void refuse(const std::string& what) { throw rlx::InternalError("Kokkos: " + what); }
}  // namespace

[[noreturn]] void Kokkos::Impl::host_abort(const char* const what) { refuse(what); }

bool Kokkos::Tools::profileLibraryLoaded() { return false; }
void Kokkos::Tools::beginParallelFor(const std::string&, const std::uint32_t, std::uint64_t*) {}
void Kokkos::Tools::beginParallelReduce(const std::string&, const std::uint32_t, std::uint64_t*) {}
void Kokkos::Tools::beginParallelScan(const std::string&, const std::uint32_t, std::uint64_t*) {}
void Kokkos::Tools::endParallelFor(const std::uint64_t) {}
void Kokkos::Tools::endParallelReduce(const std::uint64_t) {}
void Kokkos::Tools::endParallelScan(const std::uint64_t) {}

void Kokkos::team_policy_check_valid_storage_level_argument(int level) {
  if (level != 0 && level != 1) refuse("scratch memory has levels 0 and 1, not " + std::to_string(level));
}

void Kokkos::Impl::SharedAllocationRecord<void, void>::increment(SharedAllocationRecord*) {
  refuse("views of the host pool are unmanaged");
}
Kokkos::Impl::SharedAllocationRecord<void, void>* Kokkos::Impl::SharedAllocationRecord<void, void>::decrement(
    SharedAllocationRecord*) {
  refuse("views of the host pool are unmanaged");
}

// int in Kokkos 3, size_t in Kokkos 4.
using ScratchBytes = decltype(Kokkos::Impl::PerTeamValue::value);
Kokkos::Impl::PerTeamValue::PerTeamValue(ScratchBytes bytes) : value(bytes) {}
Kokkos::Impl::PerTeamValue Kokkos::PerTeam(const ScratchBytes& bytes) { return {bytes}; }

#if KOKKOS_VERSION < 40000
KOKKOS_THREAD_LOCAL int Kokkos::Impl::SharedAllocationRecord<void, void>::t_tracking_enabled = 1;
#endif
#if KOKKOS_VERSION >= 40300
void Kokkos::Impl::log_warning(const std::string& what) { refuse(what); }
#endif

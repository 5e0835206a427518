// The one exported function of librlx_suitesparse.
#include <cholmod.h>
#include <klu.h>
#include <umfpack.h>

#include "providers.hpp"

#define RLX_TEXT_(x) #x
#define RLX_TEXT(x) RLX_TEXT_(x)
#define RLX_VERSION_OF(p) RLX_TEXT(p##_MAIN_VERSION) "." RLX_TEXT(p##_SUB_VERSION) "." RLX_TEXT(p##_SUBSUB_VERSION)

namespace rlx::linalg::suitesparse {
using c128 = std::complex<double>;
template <class Index>
static constexpr IndexTable<Index> indexed{
    make_umfpack<double, Index>, make_klu<double, Index>, make_umfpack<c128, Index>,
    make_klu<c128, Index>,       btf_match<Index>,        klu_analysis<Index>};
}  // namespace rlx::linalg::suitesparse

extern "C" __attribute__((visibility("default"))) const rlx::linalg::SuitesparseTable* rlx_suitesparse_entry() {
  using namespace rlx::linalg;
  using namespace rlx::linalg::suitesparse;
  static constexpr SuitesparseTable table{
      .abi_version = suitesparse_abi_version,
      .versions = "UMFPACK " RLX_VERSION_OF(UMFPACK) ", KLU " RLX_VERSION_OF(KLU) ", CHOLMOD " RLX_VERSION_OF(CHOLMOD),
      .narrow = indexed<std::int32_t>,
      .wide = indexed<std::int64_t>,
      .cholmod = make_cholmod<double>,
      .cholmod_complex = make_cholmod<c128>};
  return &table;
}

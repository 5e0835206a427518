// The one exported function of librlx_suitesparse.
#include <cholmod.h>
#include <klu.h>
#include <umfpack.h>

#include "providers.hpp"

#define RLX_TEXT_(x) #x
#define RLX_TEXT(x) RLX_TEXT_(x)
#define RLX_VERSION_OF(p) RLX_TEXT(p##_MAIN_VERSION) "." RLX_TEXT(p##_SUB_VERSION) "." RLX_TEXT(p##_SUBSUB_VERSION)

extern "C" __attribute__((visibility("default"))) const rlx::linalg::SuitesparseTable* rlx_suitesparse_entry() {
  using namespace rlx::linalg;
  using namespace rlx::linalg::suitesparse;
  using c128 = std::complex<double>;
  static constexpr SuitesparseTable table{
      .abi_version = suitesparse_abi_version,
      .versions = "UMFPACK " RLX_VERSION_OF(UMFPACK) ", KLU " RLX_VERSION_OF(KLU) ", CHOLMOD " RLX_VERSION_OF(CHOLMOD),
      .f64 = {make_umfpack<double>, make_klu<double>, make_cholmod<double>},
      .c128 = {make_umfpack<c128>, make_klu<c128>, make_cholmod<c128>},
      .match = btf_match,
      .analyze_circuit = klu_analysis};
  return &table;
}

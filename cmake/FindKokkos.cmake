# Kokkos' headers, of which hand-written host kernels are made (backends/cpu/kokkos): Debian's libtrilinos-kokkos-dev, or the
# installation that Kokkos_ROOT names. The library is not looked for: nothing links it.
# Kokkos::headers, Kokkos_VERSION
find_path(Kokkos_INCLUDE_DIR NAMES KokkosCore_config.h PATH_SUFFIXES include trilinos kokkos)
mark_as_advanced(Kokkos_INCLUDE_DIR)
if(Kokkos_INCLUDE_DIR)
  file(STRINGS ${Kokkos_INCLUDE_DIR}/KokkosCore_config.h line REGEX "^#define KOKKOS_VERSION +[0-9]+")
  string(REGEX MATCH "[0-9]+$" number "${line}")
  math(EXPR Kokkos_VERSION_MAJOR "${number}0 / 100000")
  math(EXPR Kokkos_VERSION_MINOR "${number}0 / 1000 % 100")
  math(EXPR Kokkos_VERSION_PATCH "${number}0 / 10 % 100")
  set(Kokkos_VERSION ${Kokkos_VERSION_MAJOR}.${Kokkos_VERSION_MINOR}.${Kokkos_VERSION_PATCH})
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Kokkos REQUIRED_VARS Kokkos_INCLUDE_DIR VERSION_VAR Kokkos_VERSION
  REASON_FAILURE_MESSAGE "The kernels of the device cpu are written with its headers (Debian: libtrilinos-kokkos-dev), or those of another installation of Kokkos 3.4 or 4.1 to 4.x, which Kokkos_ROOT names.")
if(Kokkos_FOUND AND NOT TARGET Kokkos::headers)
  add_library(Kokkos::headers INTERFACE IMPORTED GLOBAL)
  target_include_directories(Kokkos::headers SYSTEM INTERFACE ${Kokkos_INCLUDE_DIR})
endif()

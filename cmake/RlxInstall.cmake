# rlx_install(): what `cmake --install` puts where, and how other projects find it: find_package(rlx) with the targets rlx::rlx,
# rlx::linalg and rlx::splat, and rlx.pc for pkg-config. Plug-ins and the program install themselves in their folders.
include(CMakePackageConfigHelpers)

# The public headers of src/<layer>/include or <family>/include as a file set of `target`. With
# -DCMAKE_VERIFY_INTERFACE_HEADER_SETS=ON the target all_verify_interface_header_sets proves each one self-contained.
function(rlx_public_headers target)
  foreach(base IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER "${base}" set)
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${base}/*.hpp)
    target_sources(${target} PUBLIC FILE_SET ${set} TYPE HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/${base} FILES ${headers})
    set_property(GLOBAL APPEND PROPERTY rlx_header_sets_${target} FILE_SET ${set} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  endforeach()
endfunction()

function(rlx_install)
  set(layers ir ops formats transform compile runtime api)
  list(TRANSFORM layers REPLACE "(.+)" "src/\\1/include")
  rlx_public_headers(rlx ${layers})
  rlx_public_headers(rlx_linalg linalg/include)
  rlx_public_headers(rlx_splat splat/include)
  foreach(target rlx rlx_linalg rlx_splat)
    target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_compile_features(${target} INTERFACE cxx_std_20)
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN")
    get_property(sets GLOBAL PROPERTY rlx_header_sets_${target})
    install(TARGETS ${target} EXPORT rlxTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ${sets})
  endforeach()
  set_target_properties(rlx_linalg PROPERTIES EXPORT_NAME linalg)
  set_target_properties(rlx_splat PROPERTIES EXPORT_NAME splat)

  set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/rlx)
  install(EXPORT rlxTargets NAMESPACE rlx:: DESTINATION ${folder})
  get_property(backends GLOBAL PROPERTY rlx_backends)
  set(RLX_BACKENDS "${backends}")
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/rlxConfig.cmake.in ${PROJECT_BINARY_DIR}/rlxConfig.cmake INSTALL_DESTINATION ${folder})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/rlxConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/rlxConfig.cmake ${PROJECT_BINARY_DIR}/rlxConfigVersion.cmake DESTINATION ${folder})

  file(RELATIVE_PATH RLX_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/rlx.pc.in ${PROJECT_BINARY_DIR}/rlx.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/rlx.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
endfunction()

# rlx_family(<name> [FOLDERS folder...]): the folder <name> as librlx_<name>, its operators and records on top of librlx; rlx_<name>_internals is
# the same as a static library for tests. Public headers lie in include/, operators in ops/ with ops/common.hpp,
# other sources beside it and in the folders named. Each folder
# kernels/<device>/ whose device is on calls
#   rlx_family_kernels(<name> <device> [EXCLUDE regex...] [PRIVATE lib...])
# for its sources, but for those that EXCLUDE matches, and defines `extern const DeviceKernels <device>_kernels` of <name>/device_kernels.hpp. The list that device_kernels()
# returns is generated here, so that no other file of a family names a device.
function(rlx_family_kernels family device)
  cmake_parse_arguments(arg "" "" "EXCLUDE;PRIVATE" ${ARGN})
  set(target rlx_${family}_kernels_${device})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(pattern IN LISTS arg_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${pattern}")
  endforeach()
  add_library(${target} OBJECT ${sources})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${family}/include
    $<TARGET_PROPERTY:rlx,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(${target} PRIVATE ${arg_PRIVATE})
  target_compile_options(${target} PRIVATE ${rlx_warnings})
  set_property(GLOBAL APPEND PROPERTY rlx_${family}_devices ${device})
  set_property(GLOBAL APPEND PROPERTY rlx_${family}_libraries ${arg_PRIVATE})
endfunction()

function(rlx_family name)
  cmake_parse_arguments(arg "" "" "FOLDERS" ${ARGN})
  set(include ${CMAKE_CURRENT_SOURCE_DIR}/include)
  file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true kernels/*)
  foreach(folder IN LISTS folders)
    add_subdirectory(${folder})
  endforeach()
  get_property(devices GLOBAL PROPERTY rlx_${name}_devices)
  get_property(libraries GLOBAL PROPERTY rlx_${name}_libraries)
  set(declarations "")
  set(entries "")
  set(objects $<TARGET_OBJECTS:rlx_${name}_objects>)
  foreach(device IN LISTS devices)
    string(APPEND declarations "extern const DeviceKernels ${device}_kernels;\n")
    string(APPEND entries "&${device}_kernels, ")
    list(APPEND objects $<TARGET_OBJECTS:rlx_${name}_kernels_${device}>)
  endforeach()
  set(list ${CMAKE_BINARY_DIR}/generated/${name}_kernels.cpp)
  file(CONFIGURE OUTPUT ${list} @ONLY CONTENT [[
#include "@name@/device_kernels.hpp"

#include <vector>

namespace rlx::@name@ {

@declarations@
std::span<const DeviceKernels* const> device_kernels() {
  static const std::vector<const DeviceKernels*> list{@entries@};
  return list;
}

}  // namespace rlx::@name@
]])

  set(patterns *.cpp ops/*.cpp)
  foreach(folder IN LISTS arg_FOLDERS)
    list(APPEND patterns ${folder}/*.cpp)
  endforeach()
  list(TRANSFORM patterns PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  add_library(rlx_${name}_objects OBJECT ${sources} ${list})
  target_include_directories(rlx_${name}_objects PUBLIC $<BUILD_INTERFACE:${include}> PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(rlx_${name}_objects PUBLIC $<TARGET_PROPERTY:rlx,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_options(rlx_${name}_objects PRIVATE ${rlx_warnings} $<$<CONFIG:Release>:-O1>)  # Rules and graph building.
  target_precompile_headers(rlx_${name}_objects PRIVATE ops/common.hpp)
  rlx_fuzzed(rlx_${name}_objects)

  add_library(rlx_${name} SHARED ${objects})
  set_target_properties(rlx_${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_link_libraries(rlx_${name} PUBLIC rlx PRIVATE ${libraries})
  target_include_directories(rlx_${name} PUBLIC $<BUILD_INTERFACE:${include}>)
  rlx_defines_all(rlx_${name})
  add_library(rlx::${name} ALIAS rlx_${name})

  add_library(rlx_${name}_internals STATIC ${objects})
  target_link_libraries(rlx_${name}_internals PUBLIC rlx_internals ${libraries})
  target_include_directories(rlx_${name}_internals PUBLIC ${include})
endfunction()

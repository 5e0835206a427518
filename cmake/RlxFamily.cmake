# rlx_family(<name> [KERNELS target...] [PRIVATE lib...]): the folder <name> as librlx_<name>, its operators and records on top of
# librlx, with the objects of its kernels; rlx_<name>_internals is the same as a static library for tests. Public headers
# lie in include/, operators in ops/ with ops/common.hpp.
function(rlx_family name)
  cmake_parse_arguments(arg "" "" "KERNELS;PRIVATE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/ops/*.cpp)
  set(include ${CMAKE_CURRENT_SOURCE_DIR}/include)
  add_library(rlx_${name}_objects OBJECT ${sources})
  target_include_directories(rlx_${name}_objects PUBLIC $<BUILD_INTERFACE:${include}> PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(rlx_${name}_objects PUBLIC $<TARGET_PROPERTY:rlx,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_options(rlx_${name}_objects PRIVATE -Wall -Wextra $<$<CONFIG:Release>:-O1>)  # Rules and graph building.
  target_precompile_headers(rlx_${name}_objects PRIVATE ops/common.hpp)

  set(objects $<TARGET_OBJECTS:rlx_${name}_objects>)
  foreach(kernels IN LISTS arg_KERNELS)
    target_include_directories(${kernels} PRIVATE $<TARGET_PROPERTY:rlx,INTERFACE_INCLUDE_DIRECTORIES> ${include} ${PROJECT_SOURCE_DIR})
    list(APPEND objects $<TARGET_OBJECTS:${kernels}>)
  endforeach()
  add_library(rlx_${name} SHARED ${objects})
  set_target_properties(rlx_${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_link_libraries(rlx_${name} PUBLIC rlx PRIVATE ${arg_PRIVATE})
  target_include_directories(rlx_${name} PUBLIC $<BUILD_INTERFACE:${include}>)
  add_library(rlx::${name} ALIAS rlx_${name})

  add_library(rlx_${name}_internals STATIC ${objects})
  target_link_libraries(rlx_${name}_internals PUBLIC rlx_internals ${arg_PRIVATE})
  target_include_directories(rlx_${name}_internals PUBLIC ${include})
endfunction()

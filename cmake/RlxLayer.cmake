# rlx_layer(<name> [DEPENDS layer...] [PRIVATE lib...] [EXCLUDE regex...]): one folder of src, but for the files that EXCLUDE
# matches, as an object library rlx_<name>.
# Its sources are found by glob, so that a new operator, pass or kernel needs no edit here. Public headers lie in include/.
# A layer sees the headers of the layers it names and of nothing else: the dependency order of the design is enforced by
# include paths, and tests/structure checks the same from the text.
function(rlx_layer name)
  cmake_parse_arguments(arg "" "" "DEPENDS;PRIVATE;EXCLUDE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(pattern IN LISTS arg_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${pattern}")
  endforeach()
  add_library(rlx_${name} OBJECT ${sources})
  target_include_directories(rlx_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
  target_include_directories(rlx_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(rlx_${name} PRIVATE ${rlx_warnings})
  rlx_unity(rlx_${name})
  foreach(dependency IN LISTS arg_DEPENDS)
    get_target_property(dirs rlx_${dependency} INTERFACE_INCLUDE_DIRECTORIES)
    target_include_directories(rlx_${name} PUBLIC ${dirs})
  endforeach()
  target_link_libraries(rlx_${name} PRIVATE ${arg_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY rlx_layers rlx_${name})
endfunction()

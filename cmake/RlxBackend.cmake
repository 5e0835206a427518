# rlx_backend(<name> [DEPENDS layer...] [PRIVATE lib...]): the folder's sources as object library rlx_backend_<name>, which
# defines `const rlx::runtime::BackendEntry <name>_backend`. The entry joins the generated list of backends; nothing else
# names the device.
function(rlx_backend name)
  cmake_parse_arguments(arg "" "" "DEPENDS;PRIVATE" ${ARGN})
  rlx_layer(backend_${name} DEPENDS ir ops compile runtime ${arg_DEPENDS} PRIVATE ${arg_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY rlx_backends ${name})
endfunction()

# Writes the list of backends, in the order in which their folders were added, and joins it to librlx.
function(rlx_generate_backend_list)
  get_property(backends GLOBAL PROPERTY rlx_backends)
  set(declarations "")
  set(entries "")
  foreach(name IN LISTS backends)
    string(APPEND declarations "extern const BackendEntry ${name}_backend;\n")
    string(APPEND entries "      &${name}_backend,\n")
  endforeach()
  set(file ${CMAKE_BINARY_DIR}/generated/backend_list.cpp)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT [[
#include <rlx/runtime/backends.hpp>

#include <array>

namespace rlx::runtime {

@declarations@
std::span<const BackendEntry* const> backends() {
  static const std::array list{
@entries@  };
  return list;
}

}  // namespace rlx::runtime
]])
  add_library(rlx_backend_list OBJECT ${file})
  target_include_directories(rlx_backend_list PRIVATE $<TARGET_PROPERTY:rlx_runtime,INTERFACE_INCLUDE_DIRECTORIES>)
  set_property(GLOBAL APPEND PROPERTY rlx_layers rlx_backend_list)
endfunction()

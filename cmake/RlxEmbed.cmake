# rlx_embed(<target> <folder> <function>): the files of a folder inside of a program. Writes <function>.cpp into the build
# tree, which defines
#   std::span<const rlx::cli::EmbeddedFile> rlx::cli::<function>()
# of src/cli/embedded_file.hpp, and adds it to <target>. A changed file is embedded again.
if(CMAKE_SCRIPT_MODE_FILE)
  set(entries "")
  file(GLOB files ${FOLDER}/*)
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME)
    file(READ ${file} text)
    string(FIND "${text}" ")rlx\"" clash)
    if(NOT clash EQUAL -1)
      message(FATAL_ERROR "${file} holds the end of a raw string")
    endif()
    string(APPEND entries "      {\"${name}\", R\"rlx(${text})rlx\"},\n")
  endforeach()
  file(WRITE ${OUTPUT} "// Written by cmake/RlxEmbed.cmake from ${FOLDER}.
#include \"cli/embedded_file.hpp\"

namespace rlx::cli {

std::span<const EmbeddedFile> ${FUNCTION}() {
  static constexpr EmbeddedFile files[] = {
${entries}  };
  return files;
}

}  // namespace rlx::cli
")
  return()
endif()

function(rlx_embed target folder function)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*)
  set(output ${CMAKE_BINARY_DIR}/generated/${function}.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/RlxEmbed.cmake)
  add_custom_command(OUTPUT ${output} DEPENDS ${files} ${script} COMMENT "Embedding ${folder}" VERBATIM
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} -DOUTPUT=${output} -DFUNCTION=${function} -P ${script})
  target_sources(${target} PRIVATE ${output})
endfunction()

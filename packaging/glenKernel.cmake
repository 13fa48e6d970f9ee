# SPDX-License-Identifier: MIT
#[[ glen_add_kernel(NAME PROGRAM
                    [FUNCTION NAME] [TARGET NAME]
                    [RULES PATH...] [OPTIONS OPTION...])

A library NAME of the C function that glen makes of a program, and its header
NAME.h, which those who link to the library find. It is made again when the
program, a rule file, a folder of them, or a target has changed. RULES and
TARGET are paths, also of files that the build makes, or names of what comes with
glen, and OPTIONS those of `glen compile`. ]]
function(glen_add_kernel name program)
  cmake_parse_arguments(arg "" "FUNCTION;TARGET" "RULES;OPTIONS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "glen_add_kernel(${name}): the argument "
      "'${arg_UNPARSED_ARGUMENTS}' is not known here.  Behind the program stand "
      "FUNCTION NAME, TARGET NAME, RULES PATH... and OPTIONS OPTION...")
  endif()
  if(arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "glen_add_kernel(${name}): "
      "'${arg_KEYWORDS_MISSING_VALUES}' has no value")
  endif()
  get_filename_component(program "${program}" ABSOLUTE)
  # What a command of the build makes is not there yet.
  get_source_file_property(made "${program}" GENERATED)
  if(NOT made AND (NOT EXISTS "${program}" OR IS_DIRECTORY "${program}"))
    message(FATAL_ERROR "glen_add_kernel(${name}): there is no program "
      "${program}.  The first argument is the name of the kernel, and the second "
      "a file: glen_add_kernel(dense dense.glen)")
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}.glen.d")
  file(MAKE_DIRECTORY "${folder}")
  set(command "${GLEN_PROGRAM}" compile "${program}" ${arg_OPTIONS}
      -o "${folder}/${name}.c" --depfile "${folder}/${name}.d"
      --depfile-format ninja)
  set(made_files "")
  foreach(path IN LISTS arg_RULES)
    # What neither is there nor will be made is a name, which glen looks for.
    get_filename_component(absolute "${path}" ABSOLUTE)
    get_source_file_property(made "${absolute}" GENERATED)
    if(made)
      list(APPEND made_files "${absolute}")
      set(path "${absolute}")
    elseif(EXISTS "${absolute}")
      set(path "${absolute}")
    elseif(path MATCHES "/")
      message(FATAL_ERROR "glen_add_kernel(${name}): there are no rules at "
        "${absolute}")
    endif()
    list(APPEND command --rules "${path}")
  endforeach()
  if(arg_TARGET)
    get_filename_component(absolute "${arg_TARGET}" ABSOLUTE)
    get_source_file_property(made "${absolute}" GENERATED)
    if(made)
      list(APPEND made_files "${absolute}")
      set(arg_TARGET "${absolute}")
    elseif(EXISTS "${absolute}")
      set(arg_TARGET "${absolute}")
    elseif(arg_TARGET MATCHES "/")
      message(FATAL_ERROR "glen_add_kernel(${name}): there is no target at "
        "${absolute}")
    endif()
    list(APPEND command --target "${arg_TARGET}")
  endif()
  if(arg_FUNCTION)
    list(APPEND command --name "${arg_FUNCTION}")
  endif()
  # make compares times alone; ninja sees that an output did not change. And
  # what CMake gathers of depfiles for make only grows, so that a rule file which
  # is gone would have the kernel made again for ever: it is gathered anew.
  set(afterwards)
  if(CMAKE_GENERATOR MATCHES "Makefiles")
    list(APPEND command --touch)
    set(afterwards COMMAND "${CMAKE_COMMAND}" -E rm -f
      "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/compiler_depend.internal")
  endif()
  add_custom_command(
    OUTPUT "${folder}/${name}.c" "${folder}/${name}.h"
    COMMAND ${command}
    ${afterwards}
    MAIN_DEPENDENCY "${program}"
    DEPENDS "${GLEN_PROGRAM}" ${made_files}
    DEPFILE "${folder}/${name}.d"
    COMMENT "glen ${name}"
    VERBATIM)
  add_library(${name} STATIC "${folder}/${name}.c" "${folder}/${name}.h")
  target_include_directories(${name} PUBLIC "${folder}")
  # A shared library may contain the kernel, too.
  if(NOT DEFINED CMAKE_POSITION_INDEPENDENT_CODE)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  # The option is not the name of a target, as `m` may be that of a kernel.
  if(UNIX)
    target_link_libraries(${name} PUBLIC -lm)
  endif()
endfunction()

# SPDX-License-Identifier: BSD-2-Clause
#
# find_package(ceedlike) defines
#   ceedlike::ceedlike      the library in double precision
#   ceedlike::ceedlike_f32  in single precision
#   ceedlike::compat        in double precision, for programs written for libCEED
# and, in a project that has enabled Fortran,
#   ceedlike::fortran       the module ceedlike, compiled by the project's own compiler
#   ceedlike::fortran_f32   the module ceedlike_f32
get_filename_component(_ceedlike_lib "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
get_filename_component(_ceedlike_include "${CMAKE_CURRENT_LIST_DIR}/@INCLUDE@" ABSOLUTE)

if(NOT TARGET ceedlike::ceedlike)
  foreach(_name ceedlike ceedlike_f32)
    add_library(ceedlike::${_name} SHARED IMPORTED GLOBAL)
    set_target_properties(ceedlike::${_name} PROPERTIES
      IMPORTED_LOCATION "${_ceedlike_lib}/lib${_name}.so.0"
      IMPORTED_SONAME "lib${_name}.so.0"
      INTERFACE_INCLUDE_DIRECTORIES "${_ceedlike_include}")
  endforeach()
  set_target_properties(ceedlike::ceedlike_f32 PROPERTIES
    INTERFACE_COMPILE_DEFINITIONS CEEDLIKE_SINGLE)

  add_library(ceedlike::compat INTERFACE IMPORTED GLOBAL)
  set_target_properties(ceedlike::compat PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_ceedlike_include}/compat"
    INTERFACE_LINK_LIBRARIES ceedlike::ceedlike)
endif()

get_property(_ceedlike_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if("Fortran" IN_LIST _ceedlike_languages AND NOT TARGET ceedlike_fortran)
  foreach(_suffix "" _f32)
    set(_target ceedlike_fortran${_suffix})
    set(_modules "${CMAKE_CURRENT_BINARY_DIR}/${_target}")
    add_library(${_target} STATIC EXCLUDE_FROM_ALL "${_ceedlike_include}/ceedlike.F90")
    set_target_properties(${_target} PROPERTIES
      POSITION_INDEPENDENT_CODE ON
      Fortran_MODULE_DIRECTORY "${_modules}")
    target_include_directories(${_target} PUBLIC "${_modules}")
    target_link_libraries(${_target} PUBLIC ceedlike::ceedlike${_suffix})
    add_library(ceedlike::fortran${_suffix} ALIAS ${_target})
  endforeach()
endif()

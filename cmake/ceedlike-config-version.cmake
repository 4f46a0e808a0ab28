# SPDX-License-Identifier: BSD-2-Clause
# Below version 1.0 the second number grows when the interface changes.
set(PACKAGE_VERSION @VERSION@)
string(REGEX MATCH "^[0-9]+\\.[0-9]+" _ceedlike_series "${PACKAGE_VERSION}")
string(REGEX MATCH "^[0-9]+\\.[0-9]+" _ceedlike_wanted "${PACKAGE_FIND_VERSION}.0")
if(_ceedlike_series VERSION_EQUAL _ceedlike_wanted
   AND NOT PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()

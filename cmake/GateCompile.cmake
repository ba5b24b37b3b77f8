# gate_flags: what every target of this project is compiled with.
add_library(gate_flags INTERFACE)
target_include_directories(gate_flags INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(gate_flags INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wconversion -Wno-sign-conversion
  -fstack-protector-strong $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>
  # So that the linker leaves out what nothing uses and orders the rest.
  $<$<CONFIG:Release>:-ffunction-sections> $<$<CONFIG:Release>:-fdata-sections>
  $<$<BOOL:${GATE_WERROR}>:-Werror>
  # gcc 12 warns of std::string's own copies: gcc bug 105329.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
target_link_options(gate_flags INTERFACE -Wl,-z,relro -Wl,-z,now
  $<$<CONFIG:Release>:-Wl,--gc-sections>)
if(GATE_SANITIZE)
  target_compile_options(gate_flags INTERFACE
    -fsanitize=${GATE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(gate_flags INTERFACE -fsanitize=${GATE_SANITIZE})
endif()
if(GATE_FUZZ)
  target_compile_options(gate_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# gate_library(NAME SOURCES… ROOMS… DEPENDS… PRIVATE…): one folder, one static
# library, with the objects of the folders below it that ROOMS names. What stands
# in DEPENDS is the folder's arrows in docs/architecture.md.
function(gate_library name)
  cmake_parse_arguments(ARG "SELDOM" "" "SOURCES;ROOMS;DEPENDS;PRIVATE" ${ARGN})
  foreach(room IN LISTS ARG_ROOMS)
    add_subdirectory(${room})
    gate_room_target(target "${CMAKE_CURRENT_SOURCE_DIR}/${room}")
    list(APPEND ARG_SOURCES $<TARGET_OBJECTS:${target}>)
  endforeach()
  gate_separate_generated(${ARG_SOURCES})
  add_library(gate_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(gate_${name} PUBLIC gate_flags ${ARG_DEPENDS}
                                     PRIVATE ${ARG_PRIVATE})
  gate_finish(gate_${name})
  gate_small(gate_${name} ${ARG_SELDOM})
endfunction()

# gate_room(SOURCES… DEPENDS… PRIVATE…): a folder of a room, whose CMakeLists.txt
# calls this. Its first lines say what the folder is for, what of it others see
# and what it may use, which tools/check-layering reads. SELDOM: see gate_small.
function(gate_room)
  cmake_parse_arguments(ARG "SELDOM" "" "SOURCES;DEPENDS;PRIVATE" ${ARGN})
  gate_room_target(target "${CMAKE_CURRENT_SOURCE_DIR}")
  gate_separate_generated(${ARG_SOURCES})
  add_library(${target} OBJECT ${ARG_SOURCES})
  target_link_libraries(${target} PUBLIC gate_flags ${ARG_DEPENDS}
                                  PRIVATE ${ARG_PRIVATE})
  gate_finish(${target})
  gate_small(${target} ${ARG_SELDOM})
endfunction()

# What runs SELDOM (once a call or less, or waiting for the kernel) is compiled for
# size: a fifth of the compiler's time and a third of the code less, and a start
# touches fewer pages.
function(gate_small target seldom)
  if(seldom)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Os>)
  endif()
endfunction()

function(gate_room_target variable folder)
  file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}" "${folder}")
  string(REPLACE "/" "_" name "gate_${name}")
  set(${variable} "${name}" PARENT_SCOPE)
endfunction()

# What the build writes is compiled alone: all of it calls its image the same.
function(gate_separate_generated)
  foreach(source IN LISTS ARGN)
    if(source MATCHES "^${PROJECT_BINARY_DIR}/")
      set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# Several sources in one compilation: most of the time of one goes to headers.
function(gate_finish target)
  if(GATE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
    # Names that are hidden stand in another source of the batch.
    target_compile_options(${target} PRIVATE -Wno-shadow)
  endif()
endfunction()

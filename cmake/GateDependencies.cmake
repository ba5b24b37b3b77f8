# The libraries gate stands on; docs/dependencies.md says why each.
find_package(PkgConfig REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(spdlog REQUIRED)
# Debian's fmt is a shared object only; a static binary takes its headers.
set_property(TARGET spdlog::spdlog_header_only PROPERTY
             INTERFACE_LINK_LIBRARIES "Threads::Threads;fmt::fmt-header-only")
find_package(CLI11 REQUIRED)
# Header only; rules/files/data_toml.cc includes it.
find_path(GATE_TOMLPLUSPLUS_DIR toml++/toml.h REQUIRED)
# Headers only; net/proxy includes them.
find_package(Boost 1.81 REQUIRED)
if(GATE_TESTS)
  find_package(GTest REQUIRED)
endif()

# gate_dependency(TARGET PKGCONFIG ARCHIVE): an interface target for a Debian
# library. The archive is preferred to the shared object, so that the release
# binary does not pay for a dynamic loader at every start.
function(gate_dependency target module archive)
  pkg_check_modules(${target} REQUIRED ${module})
  find_library(${target}_ARCHIVE ${archive})
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${${target}_INCLUDE_DIRS})
  if(${target}_ARCHIVE)
    target_link_libraries(${target} INTERFACE ${${target}_ARCHIVE} pthread m)
  else()
    target_link_libraries(${target} INTERFACE ${${target}_LINK_LIBRARIES})
  endif()
endfunction()

gate_dependency(gate_re2 re2 libre2.a)
gate_dependency(gate_sqlite sqlite3 libsqlite3.a)
gate_dependency(gate_sodium libsodium libsodium.a)

# tree-sitter and its bash grammar: npm packages by exact version and hash,
# unpacked by tools/fetch-grammar.sh; only C sources are taken from them.
set(GATE_GRAMMAR_DIR "${PROJECT_SOURCE_DIR}/build/third_party" CACHE PATH
    "Where the tree-sitter packages are unpacked")
execute_process(
  COMMAND "${PROJECT_SOURCE_DIR}/tools/fetch-grammar.sh" "${GATE_GRAMMAR_DIR}"
  RESULT_VARIABLE gate_fetch_result)
if(NOT gate_fetch_result EQUAL 0)
  message(FATAL_ERROR "the tree-sitter sources could not be had (see above)")
endif()
set(_ts "${GATE_GRAMMAR_DIR}/tree-sitter/vendor/tree-sitter/lib")
set(_tsb "${GATE_GRAMMAR_DIR}/tree-sitter-bash/src")
add_library(gate_tree_sitter STATIC
  "${_ts}/src/lib.c" "${_tsb}/parser.c" "${_tsb}/scanner.c")
target_include_directories(gate_tree_sitter SYSTEM
  PUBLIC "${_ts}/include" PRIVATE "${_ts}/src" "${_tsb}")
target_compile_options(gate_tree_sitter PRIVATE -w -O2)
target_compile_definitions(gate_tree_sitter PRIVATE _GNU_SOURCE)
# Memory errors in the grammar's C are gate's problem too.
if(GATE_SANITIZE MATCHES "address")
  target_compile_options(gate_tree_sitter PRIVATE -fsanitize=address)
endif()
if(GATE_FUZZ)
  target_compile_options(gate_tree_sitter PRIVATE -fsanitize=fuzzer-no-link)
endif()

# gate_list_files(HEADER NAMESPACE TYPE FUNCTION LEAVE): a source that lists what
# the files of this folder define. NAME.cc has `const TYPE* Get()` in the
# namespace NAMESPACE::NAME; HEADER declares FUNCTION, which returns all of them.
# Files whose names match LEAVE define none. Sets gate_listed_sources: the files
# of the folder, and the list.
function(gate_list_files header namespace type function leave)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  set(declared "")
  set(listed "")
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WE)
    if(NOT name MATCHES "${leave}")
      string(APPEND declared "namespace ${name} {\nconst ${type}* Get();\n}\n")
      string(APPEND listed "    ${name}::Get,\n")
    endif()
  endforeach()
  set(list "${CMAKE_CURRENT_BINARY_DIR}/list.cc")
  file(CONFIGURE OUTPUT "${list}" CONTENT
"// Made from the names of the files in this folder.
#include \"@header@\"
namespace @namespace@ {
@declared@namespace {
constexpr const @type@* (*kAll[])() = {
@listed@};
}  // namespace
std::span<const @type@* (*const)()> @function@() { return kAll; }
}  // namespace @namespace@
" @ONLY)
  set(gate_listed_sources ${sources} "${list}" PARENT_SCOPE)
endfunction()

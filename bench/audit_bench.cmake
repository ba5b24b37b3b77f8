# What one record costs, step by step: docs/performance.md.
add_executable(gate_audit_bench audit_bench.cc)
target_link_libraries(gate_audit_bench PRIVATE gate_audit gate_sqlite)
if(GATE_STATIC)
  target_link_options(gate_audit_bench PRIVATE -static)
endif()

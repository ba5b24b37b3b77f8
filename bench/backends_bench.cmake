add_executable(gate_backends_bench backends_bench.cc)
target_link_libraries(gate_backends_bench PRIVATE gate_flags gate_backends)
# As gate is linked: what a clone copies depends on it.
if(GATE_STATIC)
  target_link_options(gate_backends_bench PRIVATE -static-pie)
endif()

# Several guards asked about the same commands: bench/peers. Its accounting is
# tested, so the tests make it too.
if(NOT TARGET gate_decisions_bench)
  add_executable(gate_decisions_bench
    "${CMAKE_CURRENT_LIST_DIR}/decisions_bench.cc"
    "${CMAKE_CURRENT_LIST_DIR}/decisions.cc")
  target_link_libraries(gate_decisions_bench PRIVATE gate_flags gate_base)
endif()

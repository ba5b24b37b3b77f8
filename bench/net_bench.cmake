# What gate-net costs: its start, one large transfer, many connections.
add_executable(gate_net_bench net_bench.cc)
target_link_libraries(gate_net_bench PRIVATE gate_flags gate_net)
target_compile_definitions(gate_net_bench PRIVATE
  GATE_NET_BINARY="$<TARGET_FILE:gate-net>")
add_dependencies(gate_net_bench gate-net)

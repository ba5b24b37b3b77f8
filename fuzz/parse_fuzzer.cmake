gate_fuzzer(parse_fuzzer
  SOURCES parse_fuzzer.cc "${PROJECT_SOURCE_DIR}/tests/parser/print_tree.cc"
  DEPENDS gate_parser)

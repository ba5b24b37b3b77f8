# gate_order_functions(TARGET): links TARGET with the functions that usual calls
# run side by side, since a page fault costs as much as thousands of
# instructions. TARGET is linked once without an order, cmake/order/run looks at
# what that one runs, and GATE_FUNCTION_ORDER, if set, names the linker script of
# an earlier build in its place, for builds that must be the same byte for byte.
set(GATE_FUNCTION_ORDER "" CACHE FILEPATH "An order of functions made before")

function(gate_order_functions target)
  set(order "${GATE_FUNCTION_ORDER}")
  if(NOT order)
    set(place "${PROJECT_BINARY_DIR}/order")
    set(order "${place}/functions.ld")
    get_target_property(sources ${target} SOURCES)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    get_target_property(definitions ${target} COMPILE_DEFINITIONS)
    get_target_property(options ${target} LINK_OPTIONS)
    add_executable(${target}_unordered ${sources})
    target_link_libraries(${target}_unordered PRIVATE ${libraries})
    target_compile_definitions(${target}_unordered PRIVATE ${definitions})
    target_link_options(${target}_unordered PRIVATE ${options}
                        "-Wl,-Map,${place}/map")
    add_executable(${target}_touched "${PROJECT_SOURCE_DIR}/cmake/order/touched.cc")
    set_target_properties(${target}_unordered ${target}_touched PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY "${place}")
    set(tools "${PROJECT_SOURCE_DIR}/cmake/order")
    add_custom_command(
      OUTPUT "${order}"
      COMMAND "${tools}/run" "$<TARGET_FILE:${target}_unordered>" "${place}/map"
              "$<TARGET_FILE:${target}_touched>" "${order}"
      DEPENDS ${target}_unordered ${target}_touched "${tools}/run" "${tools}/sections.awk"
      COMMENT "Ordering functions by what usual calls run" VERBATIM)
    add_custom_target(${target}_order DEPENDS "${order}")
    add_dependencies(${target} ${target}_order)
  endif()
  target_link_options(${target} PRIVATE "-Wl,-T,${order}" -s)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${order}")
endfunction()

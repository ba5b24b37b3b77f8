# cmake --install: the binary (cli/CMakeLists.txt), the shipped rules and their
# schema as files to read and copy (the binary has its own copy inside), and
# the documentation.
set(_share "${CMAKE_INSTALL_DATADIR}/gate")
if(EXISTS "${PROJECT_SOURCE_DIR}/rules.d")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/rules.d" DESTINATION "${_share}"
          FILES_MATCHING PATTERN "*.json" PATTERN "*.md")
endif()
if(EXISTS "${PROJECT_SOURCE_DIR}/rules/schema.json")
  install(FILES "${PROJECT_SOURCE_DIR}/rules/schema.json"
          DESTINATION "${_share}")
endif()
foreach(_file README.md SECURITY.md LICENSE)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${_file}")
    install(FILES "${PROJECT_SOURCE_DIR}/${_file}"
            DESTINATION "${CMAKE_INSTALL_DOCDIR}")
  endif()
endforeach()
if(EXISTS "${PROJECT_SOURCE_DIR}/docs")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/"
          DESTINATION "${CMAKE_INSTALL_DOCDIR}"
          FILES_MATCHING PATTERN "*.md" PATTERN "man" EXCLUDE)
endif()
if(EXISTS "${PROJECT_SOURCE_DIR}/docs/man")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/man/"
          DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
          FILES_MATCHING PATTERN "*.1")
endif()
# Those of zsh and fish ask bash's, which they find from where they are.
foreach(_completion
    "completions.bash:bash-completion/completions/gate"
    "completions.zsh:zsh/site-functions/_gate"
    "completions.fish:fish/vendor_completions.d/gate.fish")
  string(REGEX MATCH "^(.*):(.*)/(.*)$" _ "${_completion}")
  install(FILES "${PROJECT_SOURCE_DIR}/docs/${CMAKE_MATCH_1}"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/${CMAKE_MATCH_2}"
          RENAME "${CMAKE_MATCH_3}")
endforeach()

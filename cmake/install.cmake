include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS ration_core EXPORT rationTargets)
if(TARGET ration)
  install(TARGETS ration)
endif()
# The program writes its own manual pages and completion scripts.
if(TARGET ration)
  set(written ${CMAKE_CURRENT_BINARY_DIR}/written)
  install(CODE "
    execute_process(COMMAND $<TARGET_FILE:ration> manual --out ${written}/man1
                    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    foreach(shell bash zsh fish)
      execute_process(COMMAND $<TARGET_FILE:ration> completion \${shell}
                      OUTPUT_FILE ${written}/ration.\${shell} COMMAND_ERROR_IS_FATAL ANY)
    endforeach()")
  install(DIRECTORY ${written}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(FILES ${written}/ration.bash RENAME ration
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${written}/ration.zsh RENAME _ration DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${written}/ration.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
if(TARGET ration_nn)
  install(TARGETS ration_nn ration_torch EXPORT rationTargets)
endif()
if(TARGET ration_networks)
  install(TARGETS ration_networks OPTIONAL LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/ration)
endif()
install(DIRECTORY include/ration TYPE INCLUDE)
install(DIRECTORY protectors examples DESTINATION ${CMAKE_INSTALL_DATADIR}/ration)
install(EXPORT rationTargets NAMESPACE ration:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ration)

configure_package_config_file(cmake/rationConfig.cmake.in rationConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ration)
write_basic_package_version_file(rationConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/rationConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/rationConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ration)

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS ration_core EXPORT rationTargets)
if(TARGET ration)
  install(TARGETS ration)
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

# The commands are a library, so that tests can link their parts; `ration` is main() on top of it.
find_package(CLI11 REQUIRED)
file(GLOB_RECURSE ration_cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cpp)
list(FILTER ration_cli_sources EXCLUDE REGEX "/cli/(main.cpp|module/)")
add_library(ration_cli STATIC ${ration_cli_sources})
target_include_directories(ration_cli PUBLIC ${PROJECT_SOURCE_DIR}/cli ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(ration_cli PUBLIC ration_core ration_plot fmt::fmt CLI11::CLI11 nlohmann_json::nlohmann_json
                                 PRIVATE ration_warnings)

add_executable(ration ${PROJECT_SOURCE_DIR}/cli/main.cpp)
target_link_libraries(ration PRIVATE ration_cli ration_warnings)
target_compile_definitions(ration PRIVATE RATION_VERSION="${PROJECT_VERSION}")

# Libtorch takes half a second to load, so networks are a module that only those wait for who name one. It uses the
# program's own ration_core: there is one source of noise and one list of forks in a process.
if(RATION_TORCH)
  include(GNUInstallDirs)
  add_library(ration_networks MODULE ${PROJECT_SOURCE_DIR}/cli/module/networks_module.cpp $<TARGET_OBJECTS:ration_nn>)
  target_include_directories(ration_networks PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(ration_networks PRIVATE ration_torch ${ration_nn_private_libraries})
  add_dependencies(ration ration_networks)
  set_target_properties(ration PROPERTIES ENABLE_EXPORTS ON)
  set_target_properties(ration PROPERTIES LINK_LIBRARY_OVERRIDE "WHOLE_ARCHIVE,ration_core")
  target_compile_definitions(ration PRIVATE RATION_TORCH)
  target_compile_definitions(ration_cli PRIVATE RATION_MODULE_FOLDER="../${CMAKE_INSTALL_LIBDIR}/ration")
  set_target_properties(ration_networks PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
else()
  target_compile_definitions(ration_cli PRIVATE RATION_MODULE_FOLDER="")
endif()

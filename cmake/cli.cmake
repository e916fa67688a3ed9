find_package(CLI11 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
file(GLOB ration_cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cpp)
add_executable(ration ${ration_cli_sources})
target_link_libraries(ration PRIVATE ration_core ration_warnings fmt::fmt CLI11::CLI11
                                     nlohmann_json::nlohmann_json)
target_compile_definitions(ration PRIVATE RATION_VERSION="${PROJECT_VERSION}")

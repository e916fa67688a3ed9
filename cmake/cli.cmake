# The commands are a library, so that tests can link their parts; `ration` is main() on top of it.
find_package(CLI11 REQUIRED)
file(GLOB ration_cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cpp)
list(REMOVE_ITEM ration_cli_sources ${PROJECT_SOURCE_DIR}/cli/main.cpp)
add_library(ration_cli STATIC ${ration_cli_sources})
target_include_directories(ration_cli PUBLIC ${PROJECT_SOURCE_DIR}/cli)
target_link_libraries(ration_cli PUBLIC ration_core fmt::fmt CLI11::CLI11 nlohmann_json::nlohmann_json
                                 PRIVATE ration_warnings)

add_executable(ration ${PROJECT_SOURCE_DIR}/cli/main.cpp)
target_link_libraries(ration PRIVATE ration_cli ration_warnings)
target_compile_definitions(ration PRIVATE RATION_VERSION="${PROJECT_VERSION}")

# Plots are SVG; librsvg and cairo turn them into PNG. Without them the rest works as before.
if(RATION_PNG)
  find_package(PkgConfig)
  if(PkgConfig_FOUND)
    pkg_check_modules(RSVG IMPORTED_TARGET librsvg-2.0>=2.52 cairo)
  endif()
  if(RSVG_FOUND)
    target_link_libraries(ration_cli PRIVATE PkgConfig::RSVG)
    target_compile_definitions(ration_cli PRIVATE RATION_PNG)
  else()
    message(STATUS "librsvg or cairo is missing: plots are written as SVG only (Debian: librsvg2-dev, libcairo2-dev)")
  endif()
endif()

# The commands are a library, so that tests can link their parts; `ration` is main() on top of it.
find_package(CLI11 REQUIRED)
file(GLOB_RECURSE ration_cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cpp)
list(FILTER ration_cli_sources EXCLUDE REGEX "/cli/(main.cpp|module/|text/|pictures/)")
file(GLOB ration_text_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/text/*.cpp ${PROJECT_SOURCE_DIR}/cli/pictures/*.cpp)
# Whatever includes CLI11, precompiled or not, pays two seconds for the objects that it defines in every source; texts
# and pictures do without.
add_library(ration_text OBJECT ${ration_text_sources})
add_library(ration_cli STATIC ${ration_cli_sources} $<TARGET_OBJECTS:ration_text>)
foreach(part ration_text ration_cli)
  target_include_directories(${part} PUBLIC ${PROJECT_SOURCE_DIR}/cli ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${part} PUBLIC ration_core ration_plot fmt::fmt nlohmann_json::nlohmann_json
                                PRIVATE ration_warnings)
  # No command is a hot loop, and what it calls is.
  target_compile_options(${part} PRIVATE $<$<CONFIG:Release>:-O1>)
endforeach()
target_link_libraries(ration_cli PUBLIC CLI11::CLI11)
ration_precompile(ration_text <fmt/format.h> <nlohmann/json.hpp>)
ration_precompile(ration_cli <CLI/CLI.hpp> <fmt/format.h> <nlohmann/json.hpp>)

add_executable(ration ${PROJECT_SOURCE_DIR}/cli/main.cpp)
target_link_libraries(ration PRIVATE ration_cli ration_warnings)
target_compile_options(ration PRIVATE $<$<CONFIG:Release>:-O1>)
set_target_properties(ration PROPERTIES ENABLE_EXPORTS ON LINK_LIBRARY_OVERRIDE "WHOLE_ARCHIVE,ration_core")

# Libtorch takes half a second to load, so networks are a module, loaded when a plan names one. The module uses the
# program's own ration_core: there is one source of noise and one list of forks in a process. The program does not
# depend on the module: `cmake --build . --target ration` builds what a table needs.
include(GNUInstallDirs)
set(ration_module_folder "")
if(RATION_TORCH)
  add_library(ration_networks MODULE ${PROJECT_SOURCE_DIR}/cli/module/networks_module.cpp $<TARGET_OBJECTS:ration_nn>)
  target_include_directories(ration_networks PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(ration_networks PRIVATE ration_torch ${ration_nn_private_libraries})
  set(ration_module_folder "../${CMAKE_INSTALL_LIBDIR}/ration")
  set_target_properties(ration_networks PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
endif()
set_source_files_properties(${PROJECT_SOURCE_DIR}/cli/networks.cpp PROPERTIES COMPILE_DEFINITIONS
  "RATION_MODULE_FOLDER=\"${ration_module_folder}\"")

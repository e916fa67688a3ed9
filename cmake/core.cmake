# ration_core: accounting, mechanisms, convex models; everything a table needs, without libtorch.
file(GLOB_RECURSE ration_core_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp)
list(FILTER ration_core_sources EXCLUDE REGEX "/src/objectives/neural/")
add_library(ration_core STATIC ${ration_core_sources})
add_library(ration::ration_core ALIAS ration_core)
target_include_directories(ration_core
  PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
  PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(ration_core
  PUBLIC Eigen3::Eigen
  PRIVATE Boost::headers OpenSSL::Crypto PkgConfig::GCRYPT fmt::fmt tomlplusplus::tomlplusplus ZLIB::ZLIB NLopt::nlopt Threads::Threads $<BUILD_INTERFACE:ration_warnings>)
# The ledger; and JSON, headers only, which no public header shows and no installed library needs.
target_link_libraries(ration_core PRIVATE SQLite::SQLite3 $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/base/version.cpp PROPERTIES COMPILE_DEFINITIONS
  "RATION_VERSION=\"${PROJECT_VERSION}\"")
# Where the protectors and schemas that come with the program lie.
include(GNUInstallDirs)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/base/shipped.cpp PROPERTIES COMPILE_DEFINITIONS
  "RATION_SHARED_FOLDER=\"${CMAKE_INSTALL_DATADIR}/ration\";RATION_SOURCE_FOLDER=\"${PROJECT_SOURCE_DIR}\"")
target_compile_features(ration_core PUBLIC cxx_std_20)

ration_precompile(ration_core <fmt/format.h> <algorithm> <array> <cmath> <cstdint> <functional> <limits> <map> <memory>
                  <optional> <span> <string> <string_view> <utility> <variant> <vector>)

# Plans, comparisons, and what reads and writes JSON, TOML and text: templates of libraries that take long to optimise,
# and no loop over rows or parameters.
file(GLOB_RECURSE ration_core_texts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*_json.cpp ${PROJECT_SOURCE_DIR}/src/*_toml.cpp
     ${PROJECT_SOURCE_DIR}/src/*_text.cpp ${PROJECT_SOURCE_DIR}/src/compare/*.cpp ${PROJECT_SOURCE_DIR}/src/train/*.cpp
     ${PROJECT_SOURCE_DIR}/src/methods/protector/protector_file.cpp)
list(FILTER ration_core_texts EXCLUDE REGEX "/train/(row_transform|model|training|without_privacy|public_influence).cpp")
set_source_files_properties(${ration_core_texts} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)

# The loops that turn random bits into noise, the losses, the products with rows and images and the step rules: fused multiply-adds and a square root that sets no errno, so that they
# vectorise. Nothing else of -ffast-math: it would change how the whole program treats small numbers.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/base/gaussian.cpp ${PROJECT_SOURCE_DIR}/src/base/geometric_gaps.cpp
                            ${PROJECT_SOURCE_DIR}/src/data/lane_products.cpp
                            ${PROJECT_SOURCE_DIR}/src/base/squared_length.cpp ${PROJECT_SOURCE_DIR}/src/mechanisms/gaussian.cpp
                            ${PROJECT_SOURCE_DIR}/src/methods/protector/coordinate_lstm.cpp
                            ${PROJECT_SOURCE_DIR}/src/objectives/glm/loss_kernels.cpp
                            ${PROJECT_SOURCE_DIR}/src/objectives/glm/row_products.cpp ${PROJECT_SOURCE_DIR}/src/steps/step_rule.cpp
  PROPERTIES COMPILE_OPTIONS "-ffp-contract=fast;-fno-math-errno;-fno-trapping-math" SKIP_PRECOMPILE_HEADERS ON)
# Vectors of lanes are passed between functions that become one.
set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/methods/protector/coordinate_lstm.cpp APPEND PROPERTY COMPILE_OPTIONS "-Wno-psabi")

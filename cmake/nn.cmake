# ration_nn: neural networks on libtorch. Everything else builds without it (-DRATION_TORCH=OFF).
find_library(TORCH_LIBRARY torch REQUIRED)
find_library(TORCH_CPU_LIBRARY torch_cpu REQUIRED)
find_library(C10_LIBRARY c10 REQUIRED)
find_path(TORCH_INCLUDE_DIR torch/csrc/api/include/torch/torch.h REQUIRED)
# What torch itself multiplies with; any libblas.so.3 will do, OpenBLAS is fast.
find_library(BLAS_LIBRARY NAMES libblas.so.3 blas REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBXSMM REQUIRED IMPORTED_TARGET libxsmm)
# Torch's loops over rows are templates, which run on one thread where OpenMP is not on.
# Fuzzers do without: clang would bring a second OpenMP beside the one that torch was built with.
if(RATION_FUZZ)
  add_library(OpenMP::OpenMP_CXX INTERFACE IMPORTED)
else()
  find_package(OpenMP REQUIRED COMPONENTS CXX)
endif()

add_library(ration_torch INTERFACE)
target_include_directories(ration_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIR}/torch/csrc/api/include ${TORCH_INCLUDE_DIR})
target_link_libraries(ration_torch INTERFACE ${TORCH_LIBRARY} ${TORCH_CPU_LIBRARY} ${C10_LIBRARY})

file(GLOB ration_nn_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/objectives/neural/*.cpp)
add_library(ration_nn STATIC ${ration_nn_sources})
add_library(ration::ration_nn ALIAS ration_nn)
target_include_directories(ration_nn PRIVATE ${PROJECT_SOURCE_DIR}/src)
set(ration_nn_private_libraries PkgConfig::LIBXSMM ${BLAS_LIBRARY} OpenMP::OpenMP_CXX fmt::fmt Boost::headers Eigen3::Eigen ${CMAKE_DL_LIBS})
target_link_libraries(ration_nn
  PUBLIC ration_core ration_torch
  PRIVATE ${ration_nn_private_libraries} $<BUILD_INTERFACE:ration_warnings>)
# Torch's headers take most of the time of a build.
ration_precompile(ration_nn <torch/types.h> <torch/nn/module.h>)

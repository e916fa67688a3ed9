#include "objectives/neural/device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/cuda.h>

#include <atomic>
#include <cstdint>

#include "base/parallel.h"
#include "ration/base/error.h"
#include "ration/objectives/neural/neural.h"

namespace ration::nn {
namespace {

torch::Device device_named(const std::string& name) {
  try {
    return torch::Device(name);
  } catch (const c10::Error&) {
    throw InputError(fmt::format("device: expected cpu, cuda or cuda:NUMBER, got '{}'", name));
  }
}

// OpenMP may give fewer threads than asked for.
void use_openmp(std::size_t count, const Task& task) {
#pragma omp parallel for schedule(static, 1) num_threads(count)
  for (std::size_t i = 0; i < count; ++i) task(i);
}

}  // namespace

void require_device(const std::string& name) {
  const torch::Device device = device_named(name);
  if (device.is_cpu()) return;
  if (!device.is_cuda()) {
    throw InputError(fmt::format("device: expected cpu, cuda or cuda:NUMBER, got '{}'", name));
  }
  const auto count = static_cast<std::int64_t>(torch::cuda::device_count());
  if (count == 0) {
    throw InputError(
        fmt::format("device: '{}' was asked for, but this libtorch finds no CUDA device on this machine; "
                    "leave --device out",
                    name));
  }
  if (device.has_index() && device.index() >= count) {
    throw InputError(fmt::format("device: expected cuda:0 to cuda:{}, got '{}'", count - 1, name));
  }
}

torch::Device move_to(const std::string& device, torch::nn::Module& network) {
  require_device(device);
  if (!device_named(device).is_cpu()) {
    // Eleven bits are not enough for sums whose norms were taken with 24.
    at::globalContext().setAllowTF32CuDNN(false);
    at::globalContext().setAllowTF32CuBLAS(false);
  }
  network.to(device_named(device));
  return device_named(device);
}

// OpenBLAS keeps its own number of threads, which torch does not set.
void use_threads(std::size_t threads) {
  crew = use_openmp;
  const int count = static_cast<int>(thread_count(threads));
  if (at::get_num_threads() != count) at::set_num_threads(count);
  using SetThreads = void (*)(int);
  static const auto set_blas_threads =
      reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  static std::atomic<int> blas_threads = 0;
  if (set_blas_threads != nullptr && blas_threads.exchange(count) != count) set_blas_threads(count);
}

}  // namespace ration::nn

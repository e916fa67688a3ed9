#include "networks.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "base/library_kernels.h"
#include "ration/base/error.h"
#include "ration/objectives/network.h"

namespace ration::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModule = "libration_networks.so";

// Beside the program in a build, in the libraries' folder when installed.
std::string module_file() {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& place : {folder / kModule, folder / RATION_MODULE_FOLDER / kModule}) {
    if (fs::exists(place)) return place.string();
  }
  throw InputError(fmt::format(
      "model: neural networks need {}, which is not beside the program; 'make build' builds it", kModule));
}

const Networks& load_networks() {
  const std::string file = module_file();
  choose_library_kernels();  // of what comes with the module
  void* const module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) throw InputError(fmt::format("model: {} cannot be loaded: {}", file, dlerror()));
  using Entry = const Networks* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(module, "ration_networks"));
  if (entry == nullptr) throw InternalError(fmt::format("{}: not a module of this program", file));
  return *entry();
}

class NetworksOfModule final : public Networks {
 public:
  std::vector<std::string> names() const override { return loaded().names(); }
  bool knows(std::string_view name) const override { return loaded().knows(name); }
  NetworkDefaults usual(std::string_view name) const override { return loaded().usual(name); }
  std::vector<double> start(const NetworkSpec& spec, RandomSource& random) const override {
    return loaded().start(spec, random);
  }
  std::size_t parameters(const NetworkSpec& spec) const override { return loaded().parameters(spec); }
  std::unique_ptr<Objective> objective(const NetworkSpec& spec, std::shared_ptr<const Rows> rows,
                                       const Hardware& hardware, bool labels) const override {
    return loaded().objective(spec, std::move(rows), hardware, labels);
  }
  void require_device(const std::string& device) const override { loaded().require_device(device); }

 private:
  static const Networks& loaded() {
    static const Networks& networks = load_networks();
    return networks;
  }
};

}  // namespace

void offer_networks() {
  static const NetworksOfModule networks;
  use_networks(&networks);
}

}  // namespace ration::cli

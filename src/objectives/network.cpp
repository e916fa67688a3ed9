#include "ration/objectives/network.h"

#include <atomic>

#include "ration/base/error.h"
#include "ration/objectives/glm/glm.h"

namespace ration {
namespace {

std::atomic<const Networks*> known = nullptr;

}  // namespace

void use_networks(const Networks* networks) {
  known = networks;
}

bool is_network(std::string_view model) {
  const std::string_view loss = model.substr(model.rfind('+') + 1);  // all of it if there is none
  if (find_named<GlmLoss>(loss)) return false;
  const Networks* const some = known;
  return some != nullptr && some->knows(model);
}

const Networks& networks() {
  if (const Networks* const some = known) return *some;
  throw InputError("model: this program was built without neural networks (RATION_TORCH)");
}

std::vector<std::string> network_names() {
  const Networks* const some = known;
  return some == nullptr ? std::vector<std::string>() : some->names();
}

}  // namespace ration

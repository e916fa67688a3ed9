#include "train/without_privacy.h"

#include "ration/base/error.h"

namespace ration {

std::unique_ptr<Method> make_fit_without_privacy(Objective&, const WithoutPrivacy&) {
  throw InternalError("not yet");
}

}  // namespace ration

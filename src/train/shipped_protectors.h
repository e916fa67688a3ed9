#pragma once

#include <string>

#include "ration/privacy/calibrate.h"
#include "ration/train/choices.h"

namespace ration {

// The protector that came with the program for this loss and the nearest budget: the path of its file. What
// is compared are public settings, so that the choice tells nothing about any row.
//
// They lie in the folder RATION_PROTECTORS of the environment or, if that is not set, in
// share/ration/protectors beside the installed program, or in protectors/ of the sources it was built from.
// InputError if there is none for the loss: it lists those there are. A huber loss takes one for hinge.
std::string shipped_protector(const ModelName& model, const Budget& budget);

}  // namespace ration

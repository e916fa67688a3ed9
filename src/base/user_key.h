#pragma once

#include <optional>
#include <string>

#include "base/secret_key.h"

namespace ration {

// Where this user's key lies: ration/key in $XDG_STATE_HOME, or in ~/.local/state without it; nothing if
// neither names an absolute path.
std::optional<std::string> user_key_file();

// The key of whoever runs the program, for what has no ledger to keep one. Made at the first call, readable
// by its owner only; processes that make it at once agree on one. Nothing if there is no place for it, or
// none that can be written. InputError if something else lies there.
std::optional<SecretKey> user_key();

}  // namespace ration

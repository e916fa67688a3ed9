#pragma once

namespace ration::cli {

// Makes neural networks known by name. They lie in a module beside the program, which takes half a second to
// load and so is loaded when the first of them is named.
void offer_networks();

}  // namespace ration::cli

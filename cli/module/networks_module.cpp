#include "ration/objectives/neural/models.h"

// The module's one entry (cli/networks.cpp).
extern "C" const ration::Networks* ration_networks() {
  return &ration::nn::all_networks();
}

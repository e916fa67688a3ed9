#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ration/privacy/calibrate.h"

namespace ration {

// What a reader should be warned of although the guarantee holds, for the plan, the screen and the
// certificate alike. `rows`: how many there are as far as the public knows, declared or counted with noise.
std::vector<std::string> cautions_for(const Budget& guarantee, std::optional<double> rows);

// The same before anything is known of the rows but perhaps their number: then also of a delta that is small
// enough for few tables only.
std::vector<std::string> cautions_before_rows(const Budget& guarantee, std::optional<double> rows);

// That a declared number of rows is not near a noisy count of them; empty if it is as near as the noise, of
// this scale, can tell. Nothing else ever compares the two: a wrong declaration costs accuracy, and makes
// the warning about delta above worthless.
std::string caution_on_declared_rows(double declared, double counted, double noise_scale);

}  // namespace ration

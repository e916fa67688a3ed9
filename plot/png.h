#pragma once

#include <string>

namespace ration::plot {

// Whether this program was built with librsvg and cairo (RATION_PNG).
bool can_draw_png();

// The picture as the bytes of a PNG file, `scale` dots to a unit of the SVG. InternalError if it cannot be
// drawn.
std::string svg_to_png(const std::string& svg, double scale = 2);

}  // namespace ration::plot

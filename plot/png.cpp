#include "plot/png.h"

#include "ration/base/error.h"

#ifdef RATION_PNG
#include <cairo.h>
#include <librsvg/rsvg.h>

#include <cmath>
#include <memory>
#endif

#if defined(__SANITIZE_ADDRESS__)
// The library that finds fonts keeps what it found until the process ends.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_options();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfontconfig\n";
}
extern "C" const char* __lsan_default_options() {
  return "print_suppressions=0";
}
#endif

namespace ration::plot {

#ifdef RATION_PNG
namespace {

template <auto release>
struct Release {
  template <class Object>
  void operator()(Object* object) const {
    release(object);
  }
};
using Picture = std::unique_ptr<RsvgHandle, Release<g_object_unref>>;
using Surface = std::unique_ptr<cairo_surface_t, Release<cairo_surface_destroy>>;
using Context = std::unique_ptr<cairo_t, Release<cairo_destroy>>;

cairo_status_t append(void* to, const unsigned char* bytes, unsigned int count) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), count);
  return CAIRO_STATUS_SUCCESS;
}

Picture read_svg(const std::string& svg) {
  GError* error = nullptr;
  Picture picture(rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()), svg.size(), &error));
  if (picture) return picture;
  const std::string reason = error != nullptr ? error->message : "unknown";
  g_clear_error(&error);
  throw InternalError("plot: librsvg cannot read the picture: " + reason);
}

void require(bool good, const char* what) {
  if (!good) throw InternalError(std::string("plot: cannot ") + what);
}

}  // namespace

bool can_draw_png() {
  return true;
}

std::string svg_to_png(const std::string& svg, double scale) {
  const Picture picture = read_svg(svg);
  double width = 0;
  double height = 0;
  require(rsvg_handle_get_intrinsic_size_in_pixels(picture.get(), &width, &height) != 0,
          "find the picture's size");
  const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_ARGB32,
                                                   static_cast<int>(std::ceil(width * scale)),
                                                   static_cast<int>(std::ceil(height * scale))));
  const Context context(cairo_create(surface.get()));
  const RsvgRectangle all{0, 0, width * scale, height * scale};
  require(rsvg_handle_render_document(picture.get(), context.get(), &all, nullptr) != 0, "draw the picture");
  std::string png;
  require(cairo_surface_write_to_png_stream(surface.get(), append, &png) == CAIRO_STATUS_SUCCESS,
          "write a PNG");
  return png;
}
#else
bool can_draw_png() {
  return false;
}

std::string svg_to_png(const std::string&, double) {
  throw InternalError("plot: built without librsvg, so there is no PNG");
}
#endif

}  // namespace ration::plot

#include "data/place.h"

#include <fmt/format.h>

#include "data/complaint.h"
#include "ration/data/bad_rows.h"

namespace ration::data {
namespace {

std::string located(const Place& place, std::string_view message) {
  return fmt::format("{}{}{}: {}", place.file, place.is_line ? ":" : ": row ", place.number, message);
}

std::string of_column(std::string_view column, std::string_view message) {
  return fmt::format("column {}: {}", in_quotes(column), message);
}

}  // namespace

RowFault Place::fault(std::string_view message, std::string_view advice) const {
  return RowFault(located(*this, message), advice);
}

void Place::refuse(std::string_view message) const {
  throw fault(message);
}

void Place::refuse(std::string_view column, std::string_view message, std::string_view advice) const {
  throw fault(of_column(column, message), advice);
}

void Place::refuse_header(std::string_view column, std::string_view message, std::string_view advice) const {
  const std::string complaint = located(*this, of_column(column, message));
  throw With<PublicFault>(complaint + std::string(advice), complaint);
}

}  // namespace ration::data

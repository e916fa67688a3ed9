#include "flags/model_rows.h"

#include "data/advice.h"
#include "ration/base/error.h"

namespace ration::cli {

data::Table read_model_rows(const Model& model, const std::string& data, const data::ReadOptions& options) {
  try {
    return data::read_table(data, model.schema, options);
  } catch (const data::BadRows& error) {
    const std::string said = data::without_advice(error);
    const bool several = said.find('\n') != std::string::npos;
    throw data::BadRows(said + (several ? "\n" : "; ") +
                        "the model's schema is fixed: mend the row, or use --on-bad-row clamp");
  } catch (const InputError& error) {
    const std::string said = data::without_advice(error);
    if (said == error.what()) throw;
    throw InputError(said + "; the model's schema is fixed: mend the file");
  }
}

}  // namespace ration::cli

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "ration/data/rows.h"
#include "ration/train/model.h"

namespace ration {

// A table's rows as a model sees them: one that was read before a fit put knots into the schema gets its hats
// here. InputError if it is another table.
std::shared_ptr<const Rows> rows_for(const Model& model, const data::Table& table);

// What a model says of rows that are encoded as it sees them, knots included: the class or value of each.
// Labels are not looked at.
std::vector<double> predict_rows(const Model& model, const std::shared_ptr<const Rows>& rows);

// How much a model of two classes favours class 1 in each row: the log odds, or the margin of a
// support vector machine. Class 1 is told where that is above 0. Labels are not looked at.
std::vector<double> two_class_scores(const Model& model, const data::Table& table);

// How well a model does on such rows, by their labels. Exact, so for rows that are public only. 0 threads:
// one per processor.
Evaluation evaluate_rows(const Model& model, const std::shared_ptr<const Rows>& rows,
                         std::size_t threads = 0);

// Whether outputs mean probabilities: of logistic and softmax models, networks among them. The margin of a
// support vector machine is none.
bool gives_probabilities(const Model& model);

// The rows of one value of a category.
struct GroupEvaluation {
  std::string value;  // or "(other)" for rows that have none of those that the model sees
  Evaluation found;
};
// By the values of a column that the model sees as a category; those without rows are left out. Exact, so for
// rows that are public only. InputError if there is no such column.
std::vector<GroupEvaluation> evaluate_by(const Model& model, const data::Table& table,
                                         const std::string& column);

}  // namespace ration

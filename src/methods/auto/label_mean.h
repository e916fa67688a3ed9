#pragma once

#include <cstddef>
#include <memory>

#include "methods/method.h"

namespace ration {

// The squared loss's answer where rows and budget carry no model: every row gets the mean label.
//
// Release     one gradient at the constant 1/2, of rows of which the bias alone is seen. Labels are in [0, 1]
//             (train/row_transform.h), so a row's gradient, 1/2 - y, is no longer than the clip bound of 1/2.
// Answer      1/2 less that gradient, kept within [0, 1].
// `columns`   of the rows, the last one a bias of ones. `noise` > 0.
std::unique_ptr<Method> make_label_mean(std::size_t columns, double noise);

}  // namespace ration

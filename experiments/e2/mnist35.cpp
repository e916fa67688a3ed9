#include "mnist35.h"

#include <Eigen/Dense>
#include <algorithm>

#include "data/images.h"
#include "ration/base/error.h"

namespace ration::e2 {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Pixels {
  Matrix values;  // an image in a row
  std::vector<double> classes;
};

Pixels threes_and_fives(const std::string& folder, const std::string& name, std::size_t most) {
  const data::Images images = data::read_idx(folder + "/" + name + "-images-idx3-ubyte.gz",
                                             folder + "/" + name + "-labels-idx1-ubyte.gz");
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < images.count() && chosen.size() < most; ++i) {
    if (images.labels[i] == 3 || images.labels[i] == 5) chosen.push_back(i);
  }
  Pixels out{Matrix(chosen.size(), images.pixels_each()), {}};
  for (std::size_t row = 0; row < chosen.size(); ++row) {
    out.classes.push_back(images.labels[chosen[row]] == 5 ? 1 : 0);
    for (std::size_t p = 0; p < images.pixels_each(); ++p) {
      out.values(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(p)) =
          images.pixels[chosen[row] * images.pixels_each() + p] / 255.0;
    }
  }
  return out;
}

// What the public images say about how to encode one.
class Basis {
 public:
  explicit Basis(const Matrix& images) : mean_(images.colwise().mean()) {
    const Matrix centred = images.rowwise() - mean_;
    const Eigen::MatrixXd covariance = centred.transpose() * centred / static_cast<double>(images.rows());
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(covariance);
    constexpr auto kAxes = static_cast<Eigen::Index>(Mnist35::kColumns);
    axes_ = solver.eigenvectors().rightCols(kAxes);
    axes_ *= solver.eigenvalues().tail(kAxes).cwiseSqrt().cwiseInverse().asDiagonal();
    axes_ /= encode(images).rowwise().norm().maxCoeff();
  }
  Matrix encode(const Matrix& images) const { return (images.rowwise() - mean_) * axes_; }

 private:
  Eigen::RowVectorXd mean_;
  Eigen::MatrixXd axes_;
};

std::vector<double> in_order(const Matrix& matrix) {
  return {matrix.data(), matrix.data() + matrix.size()};
}

}  // namespace

Mnist35::Mnist35(const std::string& folder) {
  const Pixels test = threes_and_fives(folder, "t10k", 100'000);
  const Pixels train = threes_and_fives(folder, "train", kRows);
  if (train.classes.size() != kRows || test.classes.size() < kRows) {
    throw InputError(folder + ": too few images of 3 and 5");
  }
  const Basis basis(test.values);
  private_ = {in_order(basis.encode(train.values)), train.classes};
  public_ = {in_order(basis.encode(test.values.topRows(kRows))),
             {test.classes.begin(), test.classes.begin() + kRows}};
}

std::shared_ptr<const Rows> Mnist35::scaled(const Encoded& encoded, double scale, Labels labels) {
  std::vector<double> values = encoded.values;
  for (double& value : values) value *= scale;
  std::vector<double> targets = encoded.classes;
  if (labels == Labels::signs) {
    for (double& target : targets) target = 2 * target - 1;
  }
  return std::make_shared<const Rows>(
      Rows::dense(kColumns, std::move(values), std::move(targets)).with_row_norms_at_most(scale));
}

std::shared_ptr<const Rows> Mnist35::private_rows(double scale, Labels labels) const {
  return scaled(private_, scale, labels);
}

std::shared_ptr<const Rows> Mnist35::public_rows(double scale, Labels labels) const {
  return scaled(public_, scale, labels);
}

}  // namespace ration::e2

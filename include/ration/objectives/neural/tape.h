// For extensions: may change between minor versions.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace ration::nn {

// What clipping needs to know of one layer after a backward pass: the layer's gradient of row i is never
// formed unless that is the cheapest way, but its norm and the weighted sum over all rows are.
//
// Guarantee   no use is taken whose first dimension is not that of the batch's rows.
class Site {
 public:
  // For a batch of so many rows.
  explicit Site(std::int64_t rows) : rows_(rows) {}
  virtual ~Site() = default;

  // The trained parameters whose .grad write_weighted() writes. What trains and is on no such list is
  // refused.
  virtual std::vector<torch::Tensor> parameters() const = 0;
  // squared[i] += |gradient of row i|^2, over the layer's parameters that are trained.
  virtual void add_squared_norms(std::span<double> squared) = 0;
  // The .grad of each of these parameters = sum_i factors[i] * gradient of row i; `factors` is a float per
  // row.
  virtual void write_weighted(const torch::Tensor& factors) = 0;
  // From now on these rows count as having a gradient of zero: they hold a NaN or an infinity, and 0 * NaN is
  // NaN.
  virtual void forget_rows(const torch::Tensor& rows) = 0;

 protected:
  // Of the batch.
  std::int64_t rows() const { return rows_; }

 private:
  std::int64_t rows_;
};

// InputError unless the tensor has at least so many dimensions, the first of which is that of `rows` rows.
void require_rows(const torch::Tensor& tensor, std::int64_t rows, std::int64_t least_dimensions = 1);

// By what the sums over a row's positions are computed.
enum class Kernels {
  fastest,   // loops over rows, on a processor
  portable,  // operations of whole tensors, on any device
};

// The book-keeping of one forward and one backward pass. While a tape lives, layers of layers.h that run on
// the same thread leave a site on it, and no gradient of a parameter is computed by the backward pass itself.
//
// A layer that is used several times, as in a network over time, has one site: its uses add up within each
// row. A use that the outputs do not depend on leaves nothing.
//
// [Bu23b, book-keeping; Li22, ghost norms]
class Tape {
 public:
  // Numbers, unless the constructor is told otherwise: 20 MB.
  static constexpr std::int64_t kMostKept = 5 << 20;

  // For a batch of so many rows. Sites may keep up to `most_kept` numbers all together, if that saves time.
  explicit Tape(std::int64_t rows, std::int64_t most_kept = kMostKept, Kernels kernels = Kernels::fastest);
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // The tape that records on this thread, or null.
  static Tape* current();

  // One for each layer that was used, in the order of their first use.
  std::span<const std::unique_ptr<Site>> sites() const { return sites_; }

  // Of the batch.
  std::int64_t rows() const { return rows_; }
  // By what its sites compute.
  Kernels kernels() const { return kernels_; }
  // How many numbers may still be kept.
  std::int64_t room() const { return room_; }
  // Asks to keep so many more.
  bool may_keep(std::int64_t numbers);

  // The site of this layer; `make` makes it on the layer's first use.
  template <class S, class Make>
  S& site_of(const void* layer, const Make& make) {
    const auto [place, is_new] = places_.try_emplace(layer, sites_.size());
    if (is_new) sites_.push_back(make());
    return static_cast<S&>(*sites_[place->second]);
  }

 private:
  Tape* outer_;
  std::int64_t rows_;
  std::vector<std::unique_ptr<Site>> sites_;
  std::unordered_map<const void*, std::size_t> places_;
  std::int64_t room_;
  Kernels kernels_;
};

// y = compute(), and `use` is called with the gradient of y when the backward pass comes by.
// `input_has_gradient`: y depends on something that the backward pass already looks at.
torch::Tensor watched(const std::function<torch::Tensor()>& compute, bool input_has_gradient,
                      std::function<void(const torch::Tensor&)> use);

// A tensor that must still hold what it held when it was kept.
class Unchanged {
 public:
  // Remembers the tensor's version.
  explicit Unchanged(torch::Tensor tensor) : tensor_(std::move(tensor)), version_(version_of(tensor_)) {}
  // Throws InputError if it was modified in place since.
  const torch::Tensor& get() const;

 private:
  static std::int64_t version_of(const torch::Tensor& tensor);
  torch::Tensor tensor_;
  std::int64_t version_;
};

}  // namespace ration::nn

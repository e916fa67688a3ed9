#include "data/scattering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "data/named_data.h"
#include "data/wavelets.h"
#include "support/instruction_sets.h"

namespace ration::testing {
namespace {

using namespace ration::data;

constexpr std::size_t kSide = 28;
constexpr std::size_t kLow = 7;
using Picture = std::function<double(double y, double x)>;

// A few soft strokes in the middle, black at the border.
double strokes(double y, double x) {
  const auto blob = [&](double at_y, double at_x, double high, double wide) {
    return std::exp(-std::pow((y - at_y) / high, 2) - std::pow((x - at_x) / wide, 2));
  };
  return blob(12, 14, 1.0, 3.0) + 0.7 * blob(17, 12, 3.0, 0.9) + 0.4 * blob(14, 17, 1.5, 1.5);
}

std::vector<double> drawn(const Picture& picture) {
  std::vector<double> pixels;
  for (std::size_t i = 0; i < kSide * kSide; ++i)
    pixels.push_back(picture(static_cast<double>(i / kSide), static_cast<double>(i % kSide)));
  return pixels;
}

// The 81 channels of one image, without normalisation.
std::vector<double> scattered(const std::vector<double>& pixels) {
  const Scattering scattering(kSide, kSide);
  Scattering::Workspace work(scattering);
  RealPlane plane(kSide, kSide);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    plane.values[i * kLanes + 3] = static_cast<float>(pixels[i]);
  std::vector<float> out(scattering.outputs() * kLanes);
  scattering.transform(plane, out, work);
  std::vector<double> features;
  for (std::size_t i = 0; i < scattering.outputs(); ++i) features.push_back(out[i * kLanes + 3]);
  return features;
}

double at(const std::vector<double>& features, std::size_t channel, std::size_t y, std::size_t x) {
  return features[(channel * kLow + y) * kLow + x];
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

double norm(const std::vector<double>& a) {
  return distance(a, std::vector<double>(a.size()));
}

Images made_up_images(std::size_t count, std::size_t channels = 1) {
  Images images{.channels = channels, .height = 12, .width = 8, .pixels = {}, .labels = {}};
  for (std::size_t i = 0; i < count * images.pixels_each(); ++i)
    images.pixels.push_back(static_cast<std::uint8_t>((i * i * 31 + i * 7) % 251));
  images.labels.assign(count, 0);
  return images;
}

TEST(Wavelets, HaveMeanZeroAndTheirFrequency) {
  const WaveletGrid grid{.height = 36, .width = 40};
  for (std::size_t scale : {0, 1}) {
    const std::vector<double> spectrum = morlet_spectrum(grid, scale, 3);  // direction 0: down
    EXPECT_NEAR(spectrum[0], 0, 1e-12);
    const auto top =
        static_cast<std::size_t>(std::max_element(spectrum.begin(), spectrum.end()) - spectrum.begin());
    EXPECT_EQ(top % 40, 0u);
    EXPECT_NEAR(static_cast<double>(top / 40), 36 * 0.375 / (scale + 1.0), 1.5);
  }
}

TEST(Wavelets, AreTurnedByTheirAngle) {
  const WaveletGrid grid{.height = 36, .width = 36};
  for (std::size_t angle = 0; angle < 4; ++angle) {
    const std::vector<double> one = morlet_spectrum(grid, 1, angle);
    const std::vector<double> other = morlet_spectrum(grid, 1, angle + 4);
    for (std::size_t i = 0; i < one.size(); ++i) {
      const std::size_t y = i / 36;
      const std::size_t x = i % 36;
      ASSERT_NEAR(one[i], other[x * 36 + (36 - y) % 36], 1e-12);
    }
  }
}

// |phi|^2 + (|psi(w)|^2 + |psi(-w)|^2) / 2, summed over the wavelets: a transform that does not expand has at
// most 1.
TEST(Wavelets, TogetherKeepTheEnergy) {
  const WaveletGrid grid{.height = 40, .width = 40};
  std::vector<double> energy(1600);
  for (std::size_t filter = 0; filter < 16; ++filter) {
    const std::vector<double> spectrum = morlet_spectrum(grid, filter / 8, filter % 8);
    for (std::size_t i = 0; i < energy.size(); ++i) {
      const std::size_t opposite = (40 - i / 40) % 40 * 40 + (40 - i % 40) % 40;
      energy[i] += (spectrum[i] * spectrum[i] + spectrum[opposite] * spectrum[opposite]) / 2;
    }
  }
  EXPECT_LT(*std::max_element(energy.begin(), energy.end()), 1.1);
  EXPECT_GT(energy[10], 0.5);  // a frequency of pi / 2 is seen
}

TEST(GaussianWindow, SumsToOneAroundItsCentre) {
  const std::vector<double> window = gaussian_window(18, 2, 1.6);
  double sum = 0;
  for (const double value : window) sum += value;
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_NEAR(window[1] / window[0], std::exp(-2 * 2 / (2 * 1.6 * 1.6)), 1e-9);
  EXPECT_EQ(window[1], window[17]);
}

TEST(Scattering, OfAConstantImageIsItsMeanAlone) {
  const std::vector<double> features = scattered(drawn([](double, double) { return 0.6; }));
  ASSERT_EQ(features.size(), 81u * 49);
  for (std::size_t i = 0; i < 49; ++i) EXPECT_NEAR(features[i], 0.6, 1e-5);
  for (std::size_t i = 49; i < features.size(); ++i) ASSERT_NEAR(features[i], 0, 1e-5);
}

// A wave along one direction is seen by the wavelet of that direction and frequency.
TEST(Scattering, SeesAWaveInItsDirection) {
  const auto down = [](double y, double) { return 0.5 + 0.5 * std::cos(0.75 * M_PI * y); };
  const std::vector<double> features = scattered(drawn(down));
  for (std::size_t channel = 1; channel <= 16; ++channel) {
    if (channel != 4) {
      EXPECT_LT(at(features, channel, 3, 3), at(features, 4, 3, 3));
    }
  }
}

TEST(Scattering, AgreesWithTheConvolutionWrittenOut) {
  const std::vector<double> pixels = drawn(strokes);
  const auto reflected = [](int i) { return std::min(std::abs(i), 2 * 27 - std::abs(i)); };
  double sum = 0;
  double weights = 0;
  for (int y = -16; y <= 16; ++y) {
    for (int x = -16; x <= 16; ++x) {
      const double weight = std::exp(-(y * y + x * x) / (2 * 1.6 * 1.6));
      weights += weight;
      if (std::abs(y) > 8 || std::abs(x) > 8) continue;
      sum += weight * pixels[static_cast<std::size_t>(reflected(12 + y) * 28 + reflected(16 + x))];
    }
  }
  EXPECT_NEAR(at(scattered(pixels), 0, 3, 4), sum / weights, 1e-5);
}

// Turned about the pixel (14, 14), which stays on the grid of the outputs: angle t becomes angle t + 4.
TEST(Scattering, OfATurnedImageHasItsAnglesTurned) {
  const std::vector<double> upright = scattered(drawn(strokes));
  const std::vector<double> turned = scattered(drawn([](double y, double x) { return strokes(x, 28 - y); }));
  const auto next = [](std::size_t angle) { return (angle + 4) % 8; };
  for (std::size_t y = 1; y < kLow; ++y) {
    for (std::size_t x = 1; x < kLow; ++x) {
      ASSERT_NEAR(at(turned, 0, y, x), at(upright, 0, x, 7 - y), 2e-5);
      for (std::size_t angle = 0; angle < 8; ++angle) {
        ASSERT_NEAR(at(turned, 1 + angle, y, x), at(upright, 1 + next(angle), x, 7 - y), 2e-5);
        ASSERT_NEAR(at(turned, 9 + angle, y, x), at(upright, 9 + next(angle), x, 7 - y), 2e-5);
        for (std::size_t second = 0; second < 8; ++second) {
          ASSERT_NEAR(at(turned, 17 + 8 * angle + second, y, x),
                      at(upright, 17 + 8 * next(angle) + next(second), x, 7 - y), 2e-5);
        }
      }
    }
  }
  EXPECT_GT(distance(upright, turned), 0.1 * norm(upright));
}

TEST(Scattering, HardlyMovesWithTheImage) {
  const std::vector<double> here = drawn(strokes);
  const std::vector<double> there = drawn([](double y, double x) { return strokes(y - 1, x + 1); });
  const std::vector<double> features = scattered(here);
  EXPECT_LT(distance(features, scattered(there)) / norm(features), 0.6 * distance(here, there) / norm(here));
}

TEST(Scattering, GroupsHaveMeanZeroAndVarianceOne) {
  std::vector<double> features{1, 2, 3, 4, 7, 7, 7, 7};
  normalise_groups(features, 2);
  EXPECT_NEAR(features[0], -1.5 / std::sqrt(1.25 + 1e-5), 1e-12);
  EXPECT_NEAR(features[0] + features[1] + features[2] + features[3], 0, 1e-12);
  EXPECT_EQ(features[5], 0);
}

TEST(Scattering, DoesNotDependOnThreadsOrNeighbours) {
  const Images images = made_up_images(300, 3);
  const std::size_t columns = scatter_features({.channels = 3, .height = 12, .width = 8}) + 1;
  EXPECT_EQ(columns, 3u * 81 * 3 * 2 + 1);
  std::vector<double> alone(300 * columns);
  std::vector<double> together(300 * columns);
  scatter(images, columns, alone, 1);
  scatter(images, columns, together, 3);
  EXPECT_EQ(alone, together);
  Images last{.channels = 3, .height = 12, .width = 8, .pixels = {}, .labels = {0}};
  last.pixels.assign(images.pixels.end() - 288, images.pixels.end());
  std::vector<double> one(columns);
  scatter(last, columns, one);
  EXPECT_TRUE(std::equal(one.begin(), one.end(), alone.end() - static_cast<std::ptrdiff_t>(columns)));
}

TEST(Scattering, IsAFeatureOfTheSchema) {
  Schema schema = parse_schema(
      "format = \"images\"\nlabel = \"k\"\nimage = { channels = 1, height = 12, width = 8, features = "
      "\"scatter\" }\n"
      "columns = [ { name = \"k\", type = \"category\", categories = [\"a\", \"b\"] } ]");
  EXPECT_EQ(parse_schema(to_toml(schema)).image, schema.image);
  const Table table = image_table(made_up_images(2), schema);
  EXPECT_EQ(table.rows.columns(), 81u * 3 * 2 + 1);
  EXPECT_EQ(table.column_names.size(), table.rows.columns());
  EXPECT_EQ(table.rows.dense_row(1).back(), 1);
  EXPECT_LE(table.rows.norms()[0], std::sqrt(81 * 6 + 1));
  EXPECT_GE(table.rows.norms()[0], std::sqrt(81 * 6 + 1) / 2);
  schema.image->width = 10;
  EXPECT_EQ(find_fault(schema)->message.substr(0, 27), "image: features = \"scatter\"");
}

TEST(Scattering, IsTheSameUnderEachInstructionSet) {
  expect_same_under_each_set([] { return scattered(drawn(strokes)); }, 1e-5);
}

}  // namespace
}  // namespace ration::testing

// Reading a CSV file, on one thread: all the way to an encoded table; and making one.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ration/data/census.h"

namespace {

constexpr std::size_t kRows = 200'000;
constexpr std::size_t kAdultRows = 48'842;

// A generated census on disk for as long as the object lives.
class CensusFile {
 public:
  explicit CensusFile(std::size_t rows)
      : path_(std::filesystem::temp_directory_path() /
              ("ration-bench-" + std::to_string(std::rand()) + ".csv")) {
    std::ofstream out(path_);
    ration::data::write_census(out, rows, 1);
  }
  ~CensusFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }
  std::int64_t bytes() const { return static_cast<std::int64_t>(std::filesystem::file_size(path_)); }

 private:
  std::filesystem::path path_;
};

void read_csv(benchmark::State& state) {
  const CensusFile file(kRows);
  const ration::data::Schema schema = ration::data::census_schema();
  for (auto _ : state) benchmark::DoNotOptimize(ration::data::read_csv(file.path(), schema).rows.count());
  // Items are bytes, so that a figure can be megabytes a second.
  state.SetItemsProcessed(state.iterations() * file.bytes());
}
BENCHMARK(read_csv)->Name("data/read_csv");

std::string adult(const char* part) {
  const char* folder = std::getenv("RATION_DATA");
  return std::string(folder != nullptr ? folder : "") + "/adult/" + part;
}

// UCI Adult, both parts, as it is published (and gzipped), from the folder RATION_DATA; a generated census of
// as many rows where it is absent.
void read_adult(benchmark::State& state) {
  const bool present =
      std::filesystem::exists(adult("adult.data.gz")) && std::filesystem::exists(adult("adult.test.gz"));
  const CensusFile census(present ? 1 : kAdultRows);
  const std::vector<std::string> paths =
      present ? std::vector{adult("adult.data.gz"), adult("adult.test.gz")} : std::vector{census.path()};
  const ration::data::Schema schema =
      present ? ration::data::read_schema(RATION_SOURCE_DIR "/examples/adult/schema.toml")
              : ration::data::census_schema();
  for (auto _ : state) {
    std::size_t rows = 0;
    for (const std::string& path : paths) rows += ration::data::read_table(path, schema).rows.count();
    if (rows != kAdultRows) state.SkipWithError("expected 48,842 rows");
  }
  state.SetLabel(present ? "adult" : "census");
}
BENCHMARK(read_adult)->Name("data/read_adult")->Unit(benchmark::kMillisecond);

void make_census(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(ration::data::census_table(kRows, 1).rows.count());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRows));
}
BENCHMARK(make_census)->Name("data/census_table");

}  // namespace

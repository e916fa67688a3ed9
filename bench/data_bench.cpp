// Reading a CSV file, on one thread: all the way to an encoded table; and making one.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "ration/data/census.h"

namespace {

constexpr std::size_t kRows = 200'000;

// A generated census on disk for as long as the program runs.
class CensusFile {
 public:
  CensusFile()
      : path_(std::filesystem::temp_directory_path() /
              ("ration-bench-" + std::to_string(std::rand()) + ".csv")) {
    std::ofstream out(path_);
    ration::data::write_census(out, kRows, 1);
  }
  ~CensusFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }
  std::int64_t bytes() const { return static_cast<std::int64_t>(std::filesystem::file_size(path_)); }

 private:
  std::filesystem::path path_;
};

void read_csv(benchmark::State& state) {
  const CensusFile file;
  const ration::data::Schema schema = ration::data::census_schema();
  for (auto _ : state) benchmark::DoNotOptimize(ration::data::read_csv(file.path(), schema).rows.count());
  // Items are bytes, so that a figure can be megabytes a second.
  state.SetItemsProcessed(state.iterations() * file.bytes());
}
BENCHMARK(read_csv)->Name("data/read_csv");

void make_census(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(ration::data::census_table(kRows, 1).rows.count());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRows));
}
BENCHMARK(make_census)->Name("data/census_table");

}  // namespace

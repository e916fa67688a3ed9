// Schedules of noise in files.
#include "schedules/noise_file.h"

#include "support/fuzz.h"

using namespace ration;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Folder folder;
  const std::string file = folder.write("noise.txt", fuzz::as_text(data, size));
  fuzz::accepts_or_refuses([&] {
    std::int64_t steps = 0;
    for (const NoiseRun& run : read_noise_file(file)) {
      fuzz::expect(run.noise_multiplier > 0 && run.steps >= 1, "a schedule with an impossible step");
      if (__builtin_add_overflow(steps, run.steps, &steps)) return;
    }
    if (steps > 1000) return;  // one number each
    const std::vector<double> noise = read_noise_per_step(file);
    const std::string again = folder.write("again.csv", noise_file_text(noise));
    fuzz::expect(read_noise_per_step(again) == noise, "a schedule reads back as another");
  });
  return 0;
}

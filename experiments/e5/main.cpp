#include <fmt/format.h>

#include <exception>
#include <cstring>
#include <cstdlib>
#include <map>

#include "quadratics.h"
#include "transfer.h"

using namespace ration::e5;
int main(int argc, char** argv) {
  try {
    const std::string data = "/work/shared/data", examples = "examples";
    const std::string stage = argc > 1 ? argv[1] : "quadratics";
    if (stage == "quadratics") { study_quadratics(0.05, 100, 1); return 0; }
    std::vector<double> epsilons{.05, .2};
    if (getenv("E5_EPS")) { epsilons.clear(); for (char* p = strtok(getenv("E5_EPS"), ","); p; p = strtok(nullptr, ",")) epsilons.push_back(atof(p)); }
    PublicData from, to;
    if (stage == "br") { from = census("ipums-br","IPUMS-BR.dat.gz",data,examples); to = census("ipums-us-1980","ipums.csv.gz",data,examples); }
    if (stage == "us") { to = census("ipums-br","IPUMS-BR.dat.gz",data,examples); from = census("ipums-us-1980","ipums.csv.gz",data,examples); }
    if (stage == "mnist") { from = digit_pair(data,{4,6}); to = digit_pair(data,{3,5}); }
    std::vector<TrainingRecord> records;
    std::vector<std::string> methods;
    for (int i = 2; i < argc; ++i) methods.push_back(argv[i]);
    const double rows = (double)to.split(0).train->count();
    fmt::print(stderr, "{} rows x {}, dense {}, private {}\n", from.all->count(), from.all->columns(), from.all->is_dense(), rows);
    const std::size_t repeats = getenv("E5_REPEATS") ? (size_t)atoi(getenv("E5_REPEATS")) : 5;
    const auto tell = [&](auto run) {
      TransferRun sum;
      for (std::size_t r = 0; r < repeats; ++r) { auto one = run(r); sum.method = one.method; sum.epsilon = one.epsilon; sum.accuracy += 100*one.accuracy/repeats; sum.loss += one.loss/repeats; sum.objective += one.objective/repeats; sum.spent += one.spent/repeats; }
      fmt::print("{} {}: accuracy {:.2f} loss {:.4f} objective {:.4f} spent {:.4f}\n", sum.method, sum.epsilon, sum.accuracy, sum.loss, sum.objective, sum.spent);
    };
    for (const auto& m : methods) for (double e : epsilons) try { tell([&](std::size_t r) { return baseline_run(to, m, e, r); }); } catch (const std::exception& x) { fmt::print("{} {}: {}\n", m, e, x.what()); }
    if (getenv("E5_NOTRAIN")) return 0;
    const bool scheduler = !getenv("E5_PROJ");
    for (const auto& p : train_protectors(from, rows, scheduler, epsilons, 1, records)) tell([&](std::size_t r) { return protected_run(to, p, r); });
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "e5: {}\n", error.what());
    return 1;
  }
}

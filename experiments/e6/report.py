"""Tables of experiment E6 from the folders that `ration compare` left:
python3 experiments/e6/report.py E6 E6-PROTECTORS docs/results/e6"""

import collections
import csv
import functools
import math
import pathlib
import shutil
import statistics
import sys

E1_TABLES = ["adult", "bank", "ipums-br", "ipums-us-1980"]
OURS = "auto"
CONFIDENCE = 0.95

Measure = collections.namedtuple("Measure", "key words unit digits better")
MEASURES = [
    Measure("accuracy", "accuracy in percent", 100, 2, 1),
    Measure("auc", "AUC", 1, 4, 1),
    Measure("log_loss", "log loss", 1, 4, -1),
]


class Runs:
    """What was measured, by data, model, method and epsilon (none for what does not depend on it), then by repeat and fold."""

    def __init__(self, folder):
        self.cells = collections.defaultdict(dict)
        with open(folder / "runs.csv", newline="") as file:
            for line in csv.DictReader(file):
                if line["refused"]:
                    continue
                key = (line["data"], line["model"], line["method"], float(line["epsilon"]) if line["epsilon"] else None)
                self.cells[key][int(line["repeat"]), int(line["fold"])] = line
        with open(folder / "results.csv", newline="") as file:
            lines = [line for line in csv.DictReader(file) if line["data"] != "mean"]
        self.data, self.models, self.methods = (list(dict.fromkeys(line[name] for line in lines)) for name in ["data", "model", "method"])
        self.epsilons = sorted({key[3] for key in self.cells if key[3] is not None})
        places = {place for cell in self.cells.values() for place in cell}
        self.repeats = max(repeat for repeat, _ in places)
        self.folds = max(fold for _, fold in places)

    def is_private(self, method):
        return any(key[2] == method and key[3] is not None for key in self.cells)

    def others(self):
        return [method for method in self.methods if method != OURS and self.is_private(method)]

    def of(self, tables, model, method, epsilon, measure):
        """By repeat and fold, the mean over the tables; empty if one of them lacks it."""
        own = epsilon if self.is_private(method) else None
        cells = [self.cells.get((table, model, method, own), {}) for table in tables]
        both = set.intersection(*(set(cell) for cell in cells))
        values = {}
        for place in sorted(both):
            of_tables = [cell[place][measure.key] for cell in cells]
            if all(of_tables):
                values[place] = measure.unit * statistics.fmean(map(float, of_tables))
        return values

    def mean(self, *cell):
        values = self.of(*cell)
        return statistics.fmean(values.values()) if values else None

    def best_other(self, tables, model, epsilon, measure):
        """The method with the best mean beside ours; none if no other has the measure."""
        means = {method: self.mean(tables, model, method, epsilon, measure) for method in self.others()}
        means = {method: measure.better * mean for method, mean in means.items() if mean is not None}
        return max(means, key=means.get) if means else None


def t_tail(t, freedom):
    """The probability that Student's t lies above t > 0, by Simpson's rule for its density from 0 to t."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    density = lambda x: scale * (1 + x * x / freedom) ** (-(freedom + 1) / 2)
    pieces = 2000
    width = t / pieces
    weights = [1] + [4, 2] * (pieces // 2 - 1) + [4, 1]
    return 0.5 - width / 3 * sum(weight * density(i * width) for i, weight in enumerate(weights))


@functools.cache
def t_quantile(freedom):
    """Above which Student's t lies with half of what confidence leaves."""
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if t_tail(middle, freedom) > (1 - CONFIDENCE) / 2 else (low, middle)
    return high


class Difference:
    """Ours less another's, fold by fold, positive if ours is better, with a confidence interval.

    Folds are not independent: any two share most of their training rows, and repeats share all rows. The corrected interval
    [Nadeau03] adds test rows / training rows to 1 / runs in the variance of the mean."""

    def __init__(self, runs, tables, model, epsilon, measure, other):
        ours = runs.of(tables, model, OURS, epsilon, measure)
        theirs = runs.of(tables, model, other, epsilon, measure)
        values = [measure.better * (ours[place] - theirs[place]) for place in ours if place in theirs]
        self.measure = measure
        self.mean = statistics.fmean(values) if values else None
        self.half_width = None
        if len(values) > 1:
            error = statistics.stdev(values) * math.sqrt(1 / len(values) + 1 / (runs.folds - 1))
            self.half_width = t_quantile(len(values) - 1) * error

    def __str__(self):
        if self.mean is None:
            return "-"
        digits = self.measure.digits
        width = "" if self.half_width is None else f" ± {self.half_width:.{digits}f}"
        return f"{self.mean:+.{digits}f}{width}"


def number(value, measure):
    return "-" if value is None else f"{value:.{measure.digits}f}"


def table(header, lines):
    rows = [header, ["---"] * len(header)] + lines
    return "".join("| " + " | ".join(row) + " |\n" for row in rows) + "\n"


def eps(epsilon):
    return f"{epsilon:g}"


def means(runs, tables, model, measure):
    """Every method's means, the best private one bold."""
    best = {}
    for epsilon in runs.epsilons:
        of_methods = [runs.mean(tables, model, method, epsilon, measure) for method in [OURS, *runs.others()]]
        best[epsilon] = max((measure.better * mean for mean in of_methods if mean is not None), default=None)

    def cell(method, epsilon):
        mean = runs.mean(tables, model, method, epsilon, measure)
        is_best = mean is not None and runs.is_private(method) and measure.better * mean == best[epsilon]
        return f"**{number(mean, measure)}**" if is_best else number(mean, measure)

    return table(["method", *map(eps, runs.epsilons)],
                 [[method, *(cell(method, epsilon) for epsilon in runs.epsilons)] for method in runs.methods])


def differences(runs, tables, model, measure, named):
    def best(epsilon):
        other = runs.best_other(tables, model, epsilon, measure)
        if other is None:
            return "-"
        return f"{Difference(runs, tables, model, epsilon, measure, other)} ({other})"

    lines = [["the best other", *map(best, runs.epsilons)]]
    for other in named:
        lines.append([other, *(str(Difference(runs, tables, model, epsilon, measure, other)) for epsilon in runs.epsilons)])
    return table([f"`{OURS}` less", *map(eps, runs.epsilons)], lines)


def on_each_table(runs, model, measure):
    """Ours less the best other and less majority, for each table and budget where there is one."""
    for name in runs.data:
        for epsilon in runs.epsilons:
            other = runs.best_other([name], model, epsilon, measure)
            if other is not None and runs.of([name], model, OURS, epsilon, measure):
                yield (name, epsilon, other, Difference(runs, [name], model, epsilon, measure, other),
                       Difference(runs, [name], model, epsilon, measure, "majority"))


def worst(runs, model, measure, how_many):
    cells = list(on_each_table(runs, model, measure))
    cells.sort(key=lambda cell: cell[3].mean)
    out = table(["table", "epsilon", "best other", f"`{OURS}` less it", f"`{OURS}` less majority"],
                [[name, eps(epsilon), other, str(best), str(majority)] for name, epsilon, other, best, majority in cells[:how_many]])
    compared = [cell for cell in cells if cell[4].mean is not None]
    if not compared:
        return out
    name, epsilon, _, _, majority = min(compared, key=lambda cell: cell[4].mean)
    return out + f"Nearest to majority, or furthest below: {name} at epsilon {eps(epsilon)}, {majority}.\n\n"


def section(runs, model, measure, named):
    if all(runs.mean([name], model, OURS, epsilon, measure) is None for name in runs.data for epsilon in runs.epsilons):
        return ""
    out = ""
    groups = {"the four tables of E1": [name for name in E1_TABLES if name in runs.data], f"all {len(runs.data)} tables": runs.data}
    for words, tables in groups.items():
        out += f"### {model}, {measure.words}: mean over {words}\n\n"
        out += means(runs, tables, model, measure) + differences(runs, tables, model, measure, named)
    out += f"### {model}, {measure.words}: where `{OURS}` is furthest behind\n\n"
    return out + worst(runs, model, measure, 6)


def part(runs, title, named):
    out = f"## {title}\n\n{runs.folds} folds x {runs.repeats} repeats.\n\n"
    return out + "".join(section(runs, model, measure, named) for model in runs.models for measure in MEASURES)


HEAD = f"""# E6 in figures

Written by `experiments/e6/report.py` from what `make e6` measured; [E6](../e6.md) says what it means.

- A mean over tables counts each table alike; the best private method is bold.
- Differences are paired by fold and positive where `{OURS}` is better, also of log loss. ± is half of a {100 * CONFIDENCE:.0f} % interval that allows for folds that
  share rows [Nadeau03]. The best other method is chosen on the same folds, which favours it.
- A support vector machine has no log loss. AUC of models that are constant is one half.

"""


def copy_files(folder, out, prefix=""):
    for name in ["results.md", "results.csv"]:
        shutil.copy(folder / name, out / (prefix + name))
    for picture in folder.glob("*-mean-*.svg"):
        shutil.copy(picture, out / (prefix + picture.name))


def main():
    e6, protectors, out = map(pathlib.Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    text = HEAD + part(Runs(e6), "All methods", ["dpsgd"])
    text += part(Runs(protectors), "Beside learned protection", ["l2p"])
    (out / "report.md").write_text(text.rstrip("\n") + "\n")
    copy_files(e6, out)
    copy_files(protectors, out, "protectors-")


if __name__ == "__main__":
    main()

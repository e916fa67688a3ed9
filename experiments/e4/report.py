"""Tables and pictures of experiment E4 from what study.py kept: python3 experiments/e4/report.py docs/results/e4"""

import json
import pathlib
import statistics
import sys

from study import BOUNDS, GAMMAS, RATES, SHORT

CELL_WIDTH, CELL_HEIGHT, LEFT, TOP = 92, 46, 150, 104
FONT = 'font-family="sans-serif"'
LOW, HIGH = (239, 243, 255), (8, 81, 156)  # light to dark blue


def percent(run):
    return 100 * run["judged"]["accuracy"]


def said(run):
    return " ".join(f"{key} {value}" for key, value in run["flags"].items())


def is_short(run):
    return run["flags"].get("epochs") == SHORT


def short_runs(runs, clip):
    return [run for run in runs if is_short(run) and run["flags"]["clip"] == clip]


def close(a, b):
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b))


def mean_or_none(values):
    return statistics.mean(values) if values else None


def abadi_cell(runs, bound, rate):
    return mean_or_none([percent(run) for run in short_runs(runs, "abadi")
                         if close(run["flags"]["clip_bound"], bound) and close(run["flags"]["lr"], rate / bound)])


def auto_cell(runs, rate):
    return mean_or_none([percent(run) for run in short_runs(runs, "auto-s")
                         if close(run["flags"]["lr"], rate) and "clip_gamma" not in run["flags"]])


def gamma_cell(runs, gamma):
    return mean_or_none([percent(run) for run in short_runs(runs, "auto-s") if close(run["flags"].get("clip_gamma", 0), gamma)])


def colour(value, low, high):
    share = 0 if high == low else min(1, max(0, (value - low) / (high - low)))
    return "rgb({},{},{})".format(*(round(a + share * (b - a)) for a, b in zip(LOW, HIGH))), share


def text(x, y, words, size=13, anchor="middle", fill="#222", weight="normal"):
    return f'<text x="{x}" y="{y}" {FONT} font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" fill="{fill}">{words}</text>'


def heat_map(title, subtitle, across, row_names, rows):
    """Accuracy by column and row; the scale leaves out what is below 90 %, so that the top can be told apart."""
    known = [value for row in rows for value in row if value is not None]
    low, high = max(90, min(known)), max(known)
    width, height = LEFT + CELL_WIDTH * len(across) + 24, TOP + CELL_HEIGHT * len(rows) + 60
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
             f'<rect width="{width}" height="{height}" fill="white"/>', text(16, 28, title, 17, "start", weight="bold"),
             *(text(16, 48 + 16 * i, line, 12, "start", "#555") for i, line in enumerate(subtitle))]
    for i, name in enumerate(across):
        parts.append(text(LEFT + CELL_WIDTH * (i + 0.5), TOP - 10, name))
    for j, (name, row) in enumerate(zip(row_names, rows)):
        y = TOP + CELL_HEIGHT * j
        parts.append(text(LEFT - 10, y + CELL_HEIGHT / 2 + 5, name, anchor="end"))
        for i, value in enumerate(row):
            x = LEFT + CELL_WIDTH * i
            if value is None:
                parts.append(text(x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2 + 5, "not run", 11, fill="#888"))
                continue
            fill, share = colour(value, low, high)
            parts.append(f'<rect x="{x + 1}" y="{y + 1}" width="{CELL_WIDTH - 2}" height="{CELL_HEIGHT - 2}" fill="{fill}"/>')
            parts.append(text(x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2 + 5, f"{value:.2f}", 14, fill="white" if share > 0.5 else "#222"))
    parts.append(text(LEFT + CELL_WIDTH * len(across) / 2, height - 24, "learning rate x clip norm", 13))
    return "\n".join(parts + ["</svg>\n"])


def tables(runs):
    lines = ["| data | model | flags | runs | test accuracy, % | epsilon |", "|---|---|---|---|---|---|"]
    groups = {}
    for run in runs:
        if not is_short(run):
            groups.setdefault((run["model"], run["data"], said(run)), []).append(run)
    for (model, data, flags), some in sorted(groups.items()):
        each = ", ".join(f"{percent(run):.2f}" for run in some)
        lines.append(f"| {data} | {model} | {flags} | {len(some)} | {each}; mean {statistics.mean(map(percent, some)):.2f} "
                     f"| {max(run['trained']['epsilon'] for run in some):.4f} |")
    if all(gamma_cell(runs, gamma) is None for gamma in GAMMAS):
        return "\n".join(lines) + "\n"
    lines += ["", "| gamma of auto-s | " + " | ".join(f"{g:g}" for g in GAMMAS) + " |", "|---" * (len(GAMMAS) + 1) + "|",
              f"| test accuracy, %, {SHORT} epochs | " + " | ".join("" if gamma_cell(runs, g) is None else f"{gamma_cell(runs, g):.2f}" for g in GAMMAS) + " |"]
    return "\n".join(lines) + "\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    runs = [json.loads(line) for line in (folder / "runs.jsonl").open()]
    (folder / "tables.md").write_text(tables(runs))
    rates = [f"{rate:g}" for rate in RATES]
    names = [f"abadi, R = {bound:g}" for bound in BOUNDS] + ["auto-s"]
    rows = [[abadi_cell(runs, bound, rate) for rate in RATES] for bound in BOUNDS] + [[auto_cell(runs, rate) for rate in RATES]]
    if any(value is not None for row in rows for value in row):
        subtitle = [f"MNIST, Papernot CNN, epsilon 3, delta 1e-5, {SHORT} epochs of 512 rows", "test accuracy, %, one run a cell"]
        (folder / "clip-norms.svg").write_text(heat_map("A clip norm to tune, and none", subtitle, rates, names, rows))


if __name__ == "__main__":
    main()

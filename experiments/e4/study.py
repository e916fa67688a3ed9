"""Experiment E4, automatic clipping: trains the networks of the paper through the command line and keeps each result.

    python3 experiments/e4/study.py --ration build/release/ration --mnist $RATION_DATA/mnist --out docs/results/e4

Every run is a line in OUT/runs.jsonl; runs that are there already are not repeated, so a study that was stopped goes on.
`report.py` makes tables and pictures of that file.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

BUDGET = ["--epsilon", "3", "--delta", "1e-5"]
SHORT = 4  # epochs of a cell of a heat map
RATES = [0.15, 0.5, 1.5, 5.0]
BOUNDS = [0.01, 0.03, 0.1, 0.3, 1.0]
GAMMAS = [1e-4, 1e-3, 1e-2, 1e-1, 1.0]


def train(data, model, batch=None, **flags):
    flags = {"batch": batch, **flags}
    return {"data": data, "model": model, "flags": {k: v for k, v in flags.items() if v is not None}}


def full_runs(repeats):
    runs = []
    for _ in range(repeats):
        for model in ("cnn:papernot", "scatter+softmax"):
            runs += [train("mnist", model), train("fashion-mnist", model)]
        runs.append(train("mnist", "cnn:papernot", 512, clip="auto-s", lr=0.5, momentum=0.9, epochs=40))  # the paper's
    return runs


def maps():
    def short(**flags):
        return train("mnist", "cnn:papernot", 512, momentum=0.9, epochs=SHORT, average="none", **flags)

    runs = [short(clip="auto-s", lr=lr) for lr in RATES]
    runs += [short(clip="auto-s", lr=0.5, clip_gamma=gamma) for gamma in GAMMAS]
    # A bound R scales every step by R: the same rates as for auto-s, in units of 1 / R.
    runs += [short(clip="abadi", clip_bound=bound, lr=lr / bound) for bound in BOUNDS for lr in RATES]
    return runs


def source(run, options, test):
    folder = {"mnist": f":{options.mnist}", "fashion-mnist": ""}[run["data"]]
    return run["data"] + folder + (":test" if test else "")


def ask(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def carry_out(run, options):
    with tempfile.TemporaryDirectory() as folder:
        flags = [part for key, value in run["flags"].items() for part in ("--" + key.replace("_", "-"), f"{value:g}" if isinstance(value, float) else str(value))]
        place = str(pathlib.Path(folder) / "run")
        trained = ask([options.ration, "train", "--data", source(run, options, False), "--model", run["model"], *flags, *BUDGET,
                       "--threads", "1", "--quiet", "--out", place, "--json"])
        judged = ask([options.ration, "evaluate", place, "--data", source(run, options, True), "--public", "--json"])
    for paths in ("run", "model", "data"):
        trained.pop(paths, None), judged.pop(paths, None)
    return {**run, "trained": trained, "judged": judged}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ration", default="build/release/ration")
    parser.add_argument("--mnist", required=True, help="folder of the four MNIST files")
    parser.add_argument("--out", default="docs/results/e4")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--part", choices=["full", "maps", "all"], default="all")
    options = parser.parse_args()
    file = pathlib.Path(options.out) / "runs.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    done = [json.loads(line) for line in file.open()] if file.exists() else []
    wanted = (full_runs(options.repeats) if options.part != "maps" else []) + (maps() if options.part != "full" else [])
    for known in done:
        run = {key: known[key] for key in ("data", "model", "flags")}
        if run in wanted:
            wanted.remove(run)
    print(f"{len(done)} runs known, {len(wanted)} to do", flush=True)

    def work(run):
        result = carry_out(run, options)
        with file.open("a") as out:
            out.write(json.dumps(result) + "\n")
        print(run["data"], run["model"], run["flags"], result["judged"].get("accuracy"), flush=True)

    with ThreadPoolExecutor(options.workers) as pool:
        list(pool.map(work, wanted))


if __name__ == "__main__":
    main()

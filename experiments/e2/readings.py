#!/usr/bin/env python3
"""How much a schedule gains at data scale 10 under every reading of the paper's setup (docs/results/e2.md).

The setup of [Hong22, App. D] leaves open how samples are normalised, whether the squared loss has a factor 1/2, and which
numbers the labels are. This runs uniform noise and Lemma 4.1 (influence from the Hessian) for all sixteen, 100 repeats each on
the same draws. Not private, and independent of the library: plain NumPy, PCA on the rows themselves as in the paper.

    python3 experiments/e2/readings.py $RATION_DATA/mnist
"""
import gzip
import itertools
import sys

import numpy as np

BUDGET = 0.3927  # R = 2 rho
CLIP, RATE, SCALE, REPEATS = 4.0, 0.1, 10.0, 100
STEPS = [10, 20, 30, 40, 50, 70, 90, 100]


def read_idx(path):
    data = gzip.open(path).read()
    shape = [int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(data[3])]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)


def threes_and_fives(folder):
    images = read_idx(f"{folder}/train-images-idx3-ubyte.gz").reshape(-1, 784) / 255.0
    digits = read_idx(f"{folder}/train-labels-idx1-ubyte.gz")
    chosen = np.flatnonzero((digits == 3) | (digits == 5))[:1000]
    return images[chosen], np.where(digits[chosen] == 5, 1.0, -1.0)


def encode(images, reading):
    """60 principal components, the longest row of norm SCALE."""
    if reading == "pixels":  # each pixel to deviation 1, then PCA
        deviation = images.std(0)
        images = images / np.where(deviation == 0, 1, deviation)
    centred = images - images.mean(0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:60]
    rows = centred @ axes.T
    if reading == "components":  # each component to deviation 1
        rows = rows / rows.std(0)
    if reading == "rows":  # each row to norm 1
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return rows * (SCALE / np.linalg.norm(rows, axis=1).max())


def final_losses(rows, labels, noise, factor, random):
    count, columns = rows.shape
    norms = np.linalg.norm(rows, axis=1)[:, None]
    weights = np.zeros((REPEATS, columns))
    for sigma in noise:
        slopes = 2 * factor * (rows @ weights.T - labels[:, None])
        slopes *= np.minimum(1, CLIP / np.maximum(np.abs(slopes) * norms, 1e-300))
        gradient = slopes.T @ rows / count + CLIP * sigma / count * random.standard_normal(weights.shape)
        weights -= RATE * gradient
    return (factor * (rows @ weights.T - labels[:, None]) ** 2).mean(0)


def schedules(eigenvalues, steps):
    kept = 1 - RATE * eigenvalues
    influence = np.array([(eigenvalues * kept ** (2 * (steps - t))).sum() for t in range(1, steps + 1)])
    roots = np.sqrt(np.maximum(influence, 1e-300))
    return np.full(steps, np.sqrt(steps / BUDGET)), np.sqrt(roots.sum() / roots / BUDGET)


def main(folder):
    images, signs = threes_and_fives(folder)
    print("| normalised | loss | labels | best uniform (T) | best influence (T) | gain | gain at T = 100 |")
    print("|---|---|---|---|---|---|---|")
    readings = itertools.product(["components", "all together", "pixels", "rows"], [0.5, 1.0], ["-1, 1", "0, 1"])
    for reading, factor, names in readings:
        rows = encode(images, reading)
        labels = signs if names == "-1, 1" else (signs + 1) / 2
        eigenvalues = np.linalg.eigvalsh(2 * factor * rows.T @ rows / len(rows))
        uniform, dynamic = [], []
        for steps in STEPS:
            for found, noise in zip((uniform, dynamic), schedules(eigenvalues, steps)):
                losses = final_losses(rows, labels, noise, factor, np.random.default_rng(1))
                found.append((losses.mean(), steps))
        (u, u_steps), (d, d_steps) = min(uniform), min(dynamic)
        at_end = dynamic[-1][0] / uniform[-1][0] - 1
        shown = f"{100 * at_end:+.1f} %" if at_end < 10 else "diverges"
        loss = "(z - y)^2 / 2" if factor == 0.5 else "(z - y)^2"
        print(f"| {reading} | {loss} | {names} | {u:.4f} ({u_steps}) | {d:.4f} ({d_steps}) | {100 * (d / u - 1):+.1f} % | {shown} |")


if __name__ == "__main__":
    main(sys.argv[1])

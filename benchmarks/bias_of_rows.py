#!/usr/bin/env python3
"""Held-out errors of rows with a bias of value 1 and of the length of attributes, as they are and divided by their sizes.

    python benchmarks/bias_of_rows.py FOLDER SOURCES PROGRAM [NAME ...]

FOLDER keeps files in between, SOURCES has the files that `other_data_sets.py` reads, PROGRAM is `maxmargin`. Only the parts
to train on take part, each cut three times: two thirds to train on, the rest to measure on, at most 3,000 rows in all. The
columns: attributes as they are, divided by their sizes, and divided by their sizes except for indicators; with a bias of 1 and
of √m each, where m is the mean squared length of the centred attributes of a row. Needs scikit-learn.
"""

import json
import math
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.sparse import diags
from sklearn import datasets

import other_data_sets
from other_data import matrix, numbered


def tasks(sources):
    for name, make in other_data_sets.rows(sources).items():
        yield name, make()[0]
    found = {name: getattr(datasets, f"load_{name}")() for name in ("digits", "iris", "wine", "breast_cancer")}
    found["diabetes"] = datasets.load_diabetes(scaled=False)
    thirds = np.quantile(found["diabetes"].target, [1 / 3, 2 / 3])
    found["diabetes"].target = np.digitize(found["diabetes"].target, thirds)
    for name, own in found.items():
        rows = ({f"c{j}": float(v) for j, v in enumerate(row) if v} for row in own.data)
        yield f"scikit-learn's {name}", [(str(y), row) for y, row in zip(own.target, rows)]


def sizes(x):
    """The sizes of columns, and the sizes that leave indicators as they are."""
    rows, count = x.shape[0], np.maximum(np.diff(x.indptr), 1)
    total, squares = np.asarray(x.sum(0)).ravel(), np.asarray(x.multiply(x).sum(0)).ravel()
    deviation = np.sqrt(np.maximum(squares / rows - (total / rows) ** 2, 0))
    size = np.sqrt(squares / count)
    scale = np.where((2 * count >= rows) & (deviation > 1e-9 * size), deviation, size)
    same = squares / count - (total / count) ** 2 < 1e-12 * size**2
    every = np.where(scale > 0, scale, 1)
    return every, np.where(same & (size > 0), size, every)


def length(x):
    mean = np.asarray(x.mean(0)).ravel()
    constant = (np.diff(x.tocsc().indptr) == x.shape[0]) & (x.max(0).toarray() == x.min(0).toarray()).ravel()
    return math.sqrt(x.multiply(x).sum() / x.shape[0] - (mean[~constant] ** 2).sum())


def write(path, x, labels):
    x = x.tocsr()
    x.sort_indices()
    rows = (zip(x.indices[a:b], x.data[a:b]) for a, b in zip(x.indptr, x.indptr[1:]))
    path.write_text("".join(f"{y} {' '.join(f'{j + 1}:{v:.7g}' for j, v in row)}\n" for y, row in zip(labels, rows)))


def error(folder, program, bias):
    command = [program, "train", folder / "bias.train", "--test", folder / "bias.test", "--format", "libsvm", "--json", "-q"]
    done = subprocess.run([*command, "--standardise", "never", "--bias", f"{bias:.9g}"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["test"]["zero_one"]


def cut(folder, program, data, seed):
    """The errors of one cut, by column, and the number of rows measured on."""
    data = [(re.sub(r"\W", "_", y), row) for y, row in data]
    random.Random(seed).shuffle(data)
    data = data[:3000]
    at = len(data) * 2 // 3
    names = numbered(data[:at])
    train, test = (matrix(part, names).tocsc() for part in (data[:at], data[at:]))
    every, no_indicators = sizes(train)
    found = []
    for scale in (np.ones(len(every)), every, no_indicators):
        own = [x @ diags(1 / scale) for x in (train, test)]
        for part, x, rows in zip(("train", "test"), own, (data[:at], data[at:])):
            write(folder / f"bias.{part}", x, [y for y, _ in rows])
        found += [error(folder, program, 1.0), error(folder, program, length(own[0]))]
    return found, len(data) - at


def main():
    folder, sources, program, *chosen = sys.argv[1:]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    print("| data | ± | as they are, 1 | √m | sizes, 1 | √m | but indicators, 1 | √m |\n" + "|---" * 8 + "|", flush=True)
    for name, data in tasks(sources):
        if chosen and name not in chosen:
            continue
        cuts = [cut(folder, program, data, seed) for seed in range(3)]
        errors = 100 * np.mean([errors for errors, _ in cuts], axis=0)
        spread = math.sqrt(max(errors[0] * (100 - errors[0]), 1) / sum(held for _, held in cuts))
        print(f"| {name} | {spread:.2f} | " + " | ".join(f"{e:.2f}" for e in errors) + " |", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures behind three defaults: when rows are standardised, whether sets of labels have a bias, and what
`--lambda auto` costs and chooses.

    python benchmarks/more_defaults.py FOLDER PROGRAM standardise|bias|auto [OTHER_PROGRAM]

FOLDER keeps files in between and may hold `NAME-train.svm` and `NAME-test.svm` (or `.txt`) of further data sets,
which `bias` and `auto` use too. PROGRAM is `maxmargin`. With OTHER_PROGRAM, `auto` compares the choices of both.
Needs scikit-learn, for its data sets.
"""

import json
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn import datasets


def write(folder, name, X, labels, seed):
    """Two thirds to train on, one third to test on; `labels` has the text of each row's labels."""
    order = np.random.RandomState(seed).permutation(len(labels))
    cut = len(labels) * 2 // 3
    files = []
    for part, rows in [("train", order[:cut]), ("test", order[cut:])]:
        files.append(folder / f"{name}-{part}.svm")
        lines = (
            f"{labels[i]} " + " ".join(f"{j + 1}:{v:.6g}" for j, v in enumerate(X[i]) if v) for i in rows
        )
        files[-1].write_text("\n".join(lines) + "\n")
    return files


def trained(program, train, test, *options):
    """What `train --json` prints, and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [program, "train", str(train), "--test", str(test), "--json", "-q", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(done.stdout), after.ru_utime - before.ru_utime


def class_sets():
    """Real rows with classes, in the units that they were measured in."""
    for name in ["wine", "breast_cancer", "iris", "digits"]:
        found = getattr(datasets, f"load_{name}")()
        yield name, found.data, found.target
    found = datasets.load_diabetes(scaled=False)
    yield "diabetes", found.data, np.digitize(found.target, np.quantile(found.target, [1 / 3, 2 / 3]))


def standardise(folder, program, _):
    """Random subsets of columns, by how much their deviations differ."""
    dice = np.random.RandomState(7)
    for name, X, y in class_sets():
        if name == "digits":
            continue
        found = {}
        for seed in range(4000):
            columns = dice.choice(X.shape[1], min(X.shape[1], dice.randint(3, 9)), replace=False)
            own = X[:, columns]
            if name == "iris":  # its columns have one unit
                own = own * 10 ** dice.uniform(-0.8, 0.8, own.shape[1])
            ratio = own.std(0).max() / own.std(0).min()
            bucket = next((b for b in [(1, 10), (10, 30), (30, 100)] if b[0] <= ratio < b[1]), None)
            if bucket is None or len(found.get(bucket, [])) == 8:
                continue
            files = write(folder, "columns", own, [f"c{label}" for label in y], seed)
            errors = [
                trained(program, *files, "--standardise", when)[0]["test"]["zero_one"]
                for when in ["never", "always"]
            ]
            found.setdefault(bucket, []).append(errors)
            if sum(map(len, found.values())) == 24:
                break
        for (low, high), errors in sorted(found.items()):
            never, always = np.array(errors).T
            print(
                f"| {name} | {low} to {high} | {never.mean():.4f} | {always.mean():.4f} "
                f"| {(always < never).sum()} : {(always > never).sum()} |",
                flush=True,
            )


def set_sets(folder):
    """Rows with sets of labels."""
    shapes = [(5, 2, False), (8, 3, False), (12, 2, True), (5, 1, True), (10, 4, False), (6, 2, True)]
    for seed, (classes, labels, empty) in enumerate(shapes):
        X, Y = datasets.make_multilabel_classification(
            600, 30, n_classes=classes, n_labels=labels, allow_unlabeled=empty, random_state=seed
        )
        names = [",".join(str(k + 1) for k in np.flatnonzero(own)) for own in Y]
        yield f"synthetic {seed}, counts", *write(folder, f"counts{seed}", X, names, seed)
        centred = (X - X.mean(0)) / (X.std(0) + 1e-9)
        yield f"synthetic {seed}, centred", *write(folder, f"centred{seed}", centred, names, seed)


def given(folder):
    """Data sets that the user has put into the folder."""
    made = ("counts", "centred", "columns", "rows")
    for train in sorted(folder.glob("*-train.*")):
        if not train.name.startswith(made):
            yield train.name.split("-train")[0], train, Path(str(train).replace("-train", "-test"))


def bias(folder, program, _):
    for name, train, test in [*given(folder), *set_sets(folder)]:
        errors = [
            trained(program, train, test, "--pairs", "complete", "--bias", b)[0]["test"]["hamming"] for b in "01"
        ]
        print(f"| {name} | {errors[0]:.4f} | {errors[1]:.4f} |", flush=True)


def auto(folder, program, other):
    rows = [
        (f"{name} {seed}", *write(folder, f"rows-{name}{seed}", X, [f"c{label}" for label in y], seed))
        for name, X, y in class_sets()
        for seed in range(3)
    ]
    for name, train, test in [*given(folder), *rows, *set_sets(folder)]:
        plain, cpu = trained(program, train, test)
        cells = [f"{plain['test']['hamming']:.4f}"]
        for one in filter(None, [other, program]):
            found, seconds = trained(one, train, test, "--lambda", "auto")
            cells.append(f"{found['test']['hamming']:.4f} | {seconds / max(cpu, 1e-3):.1f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    folder, program, task = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    folder.mkdir(exist_ok=True)
    {"standardise": standardise, "bias": bias, "auto": auto}[task](folder, program, *(sys.argv[4:] or [None]))

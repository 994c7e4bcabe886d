"""Races LIBLINEAR, through scikit-learn's LinearSVC, against maxmargin, in one run.

    python3 -m venv VENV && VENV/bin/pip install scikit-learn
    cargo build --release -p maxmargin-benchmarks
    VENV/bin/python benchmarks/liblinear.py [--repeats N] [--most SECONDS] [RACE]

RACE is the program to race against, target/release/race unless given. Both train on the same files
without bias, to the same objective: ½‖w‖² + C Σ hinge, which is P(w)/λ for λ = 1/(C·n).

LIBLINEAR has no certificate, so its tolerance is tightened (1e-1, 3e-2, 1e-2, …) until its objective
is within 1e-6 of the optimum, relatively; only the fit with that tolerance is timed. maxmargin is
timed until its objective is at most LIBLINEAR's·(1 + 1e-6), exact passes included. The two take
turns, and medians are printed: processor time, which other work on the machine disturbs less, and
time on the wall. Both use one thread. LinearSVC's checks of its input, which are a few milliseconds,
are not counted: the time of a fit with an endless tolerance is taken off.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn.datasets import dump_svmlight_file, load_digits, load_svmlight_file
from sklearn.svm import LinearSVC

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data"
CLOSE_ENOUGH = 1e-6
LEAST = 0.3  # seconds that are timed at least
TOLERANCES = [10.0**-k * f for k in range(1, 10) for f in (1.0, 0.3)]


def data_sets(race, folder):
    """Names and LIBSVM files of all data sets that are at hand."""
    letters = folder / "letters.svm"
    subprocess.run([race, "export", letters], check=True)
    yield "OCR letters", letters

    digits = load_digits()
    path = folder / "digits.svm"
    dump_svmlight_file(digits.data / 16, digits.target, str(path), zero_based=False)
    yield "digits", path

    for name, file, label in [
        ("Yeast, label 0", "yeast_train.svm.gz", None),
        ("Reuters, top label", "reuters21578_train.svm.gz", "most frequent"),
    ]:
        source = SHARED / file
        if not source.is_file():
            print(f"skipped: {source} is not at hand", file=sys.stderr)
            continue
        x, labels = load_svmlight_file(str(source), multilabel=True, zero_based=False)
        counts = {}
        for label_of_row in (one for row in labels for one in set(row)):
            counts[label_of_row] = counts.get(label_of_row, 0) + 1
        positive = 0.0 if label is None else max(counts, key=counts.get)
        y = np.array([1 if positive in row else -1 for row in labels])
        path = folder / f"{file}.svm"
        dump_svmlight_file(x, y, str(path), zero_based=False)
        yield name, path


def objective(weights, x, y, c):
    """LIBLINEAR's objective, from its formula."""
    n = len(y)
    if len(weights) == 1:
        hinge = np.maximum(0, 1 - np.where(y > 0, 1, -1) * (x @ weights[0]))
    else:
        classes = np.unique(y)
        truth = np.searchsorted(classes, y)
        scores = x @ weights.T + 1
        scores[np.arange(n), truth] -= 1
        hinge = scores.max(axis=1) - scores[np.arange(n), truth]
    return float(0.5 * (weights**2).sum() + c * hinge.sum())


def fit(x, y, c, tolerance, least=0.0):
    """A fit with its seconds, on the processor and on the wall: means over as many fits as it takes
    to spend `least` seconds."""
    options = {"multi_class": "crammer_singer"} if len(np.unique(y)) > 2 else {}
    model = LinearSVC(loss="hinge", C=c, tol=tolerance, max_iter=10**8, dual=True,
                      fit_intercept=False, random_state=1, **options)
    cpu, wall, runs = time.process_time(), time.perf_counter(), 0
    while runs == 0 or time.process_time() - cpu < least:
        model.fit(x, y)
        runs += 1
    return model.coef_, (time.process_time() - cpu) / runs, (time.perf_counter() - wall) / runs


def ask(race, *args):
    done = subprocess.run([race, *map(str, args)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def race_once(race, name, path, c, repeats, most):
    x, y = load_svmlight_file(str(path), zero_based=False)
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    best = ask(race, "optimum", path, repr(c))
    reached = None
    for tolerance in TOLERANCES:
        weights, _, wall = fit(x, y, c, tolerance)
        reached = objective(weights, x, y, c)
        if reached <= best["below"] * (1 + CLOSE_ENOUGH):
            break
        if wall > most:
            print(f"| {name} | {c:g} | – | stopped at {reached / best['below'] - 1:.0e} after "
                  f"{wall:.0f} s |", flush=True)
            return
    idle = min(fit(x, y, c, 1e30, LEAST)[1:] for _ in range(3))
    theirs, ours, objectives = [], [], []
    for _ in range(repeats):
        _, cpu, wall = fit(x, y, c, tolerance, LEAST)
        theirs.append((cpu - idle[0], wall - idle[1]))
        answer = ask(race, "time", path, repr(c), repr(reached))
        ours.append((answer["cpu"], answer["seconds"]))
        objectives.append(answer["objective"])
    assert max(objectives) <= reached * (1 + 1.01 * CLOSE_ENOUGH)
    middle = lambda times, which: statistics.median(t[which] for t in times)
    cells = [f"{middle(theirs, 0):.4f}", f"{middle(ours, 0):.4f}",
             f"**{middle(ours, 0) / middle(theirs, 0):.2f}**",
             f"{middle(theirs, 1):.4f}", f"{middle(ours, 1):.4f}",
             f"{middle(ours, 1) / middle(theirs, 1):.2f}"]
    print(f"| {name} | {c:g} | {tolerance:.0e} | {reached:.9g} | {max(objectives):.9g} | "
          + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("race", nargs="?", default=ROOT / "target" / "release" / "race")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--most", type=float, default=60, help="seconds a fit may take")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    print(f"scikit-learn {sklearn.__version__}, {args.repeats} turns each\n")
    print("| data | C | LIBLINEAR's tol | its objective | ours | its CPU s | ours | ratio "
          "| its wall s | ours | ratio |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, path in data_sets(args.race, Path(folder)):
            for c in (0.1, 1.0, 10.0):
                race_once(args.race, name, path, c, args.repeats, args.most)


if __name__ == "__main__":
    main()

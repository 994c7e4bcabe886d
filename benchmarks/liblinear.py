"""Races LIBLINEAR, through scikit-learn's LinearSVC, against maxmargin, in one run.

    python3 -m venv VENV && VENV/bin/pip install scikit-learn
    cargo build --release -p maxmargin-lab
    VENV/bin/python benchmarks/liblinear.py [--repeats N] [--most SECONDS] [RACE]

RACE is the program to race against, target/release/race unless given. Both train on the same files
without bias, to the same objective: ½‖w‖² + C Σ hinge, which is P(w)/λ for λ = 1/(C·n). Two classes
are LIBLINEAR's `-s 3` (dual of the L1-loss SVC), more are its `-s 4` (Crammer and Singer).

LIBLINEAR's tolerance is tightened (1e-1, 3e-2, 1e-2, …) until its objective is within 1e-6 of the
optimum, relatively, or a fit takes longer than it may; only the fit with that tolerance is timed, and
its objective is the target. maxmargin is given the same choice: the loosest of a list of tolerances
with which its objective is at most target·(1 + 1e-6); its exact passes are timed with the rest.

The two take turns on one thread each, and medians of processor time are printed, which other work on
the machine disturbs less than time on the wall. What LinearSVC does before and after training is not
counted: the time of a fit with an endless tolerance is taken off, and with it LIBLINEAR's first pass
over the data, in its favour.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import sklearn
from scipy.sparse import csr_matrix
from sklearn.datasets import dump_svmlight_file, load_digits, load_svmlight_file
from sklearn.svm import LinearSVC

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data"
CLOSE_ENOUGH = 1e-6
LEAST = 0.3  # seconds that are timed at least
TOLERANCES = [10.0**-k * f for k in range(1, 10) for f in (1.0, 0.3)]
STRENGTHS = (0.1, 1.0, 10.0)


def data_sets(race, folder):
    """Names and LIBSVM files of all data sets that are at hand."""
    letters = folder / "letters.svm"
    subprocess.run([race, "export", letters], check=True)
    yield "OCR letters", letters

    digits = load_digits()
    yield "digits", save(folder / "digits.svm", digits.data / 16, digits.target)
    yield "synthetic text", save(folder / "text.svm", *synthetic_text(20_000, 50_000, 2))
    yield "synthetic text, 20 classes", save(folder / "text20.svm", *synthetic_text(5_000, 20_000, 20))

    yeast = shared("yeast_train.svm.gz")
    if yeast:
        x, labels = yeast
        yield "Yeast, label 0", save(folder / "yeast.svm", x, signs(labels, 0.0))
    reuters = shared("reuters21578_train.svm.gz")
    if reuters:
        x, labels = reuters
        top = Counter(label for row in labels for label in row).most_common(1)[0][0]
        yield "Reuters, top label", save(folder / "reuters.svm", x, signs(labels, top))
        single = [i for i, row in enumerate(labels) if len(row) == 1]
        y = np.array([labels[i][0] for i in single])
        yield "Reuters, one label each", save(folder / "reuters-single.svm", x[single], y)


def shared(file):
    """The rows of a shared file and their sets of labels, if it is at hand."""
    source = SHARED / file
    if not source.is_file():
        print(f"skipped: {file} is not at hand", file=sys.stderr)
        return None
    return load_svmlight_file(str(source), multilabel=True, zero_based=False)


def signs(labels, positive):
    return np.array([1 if positive in row else -1 for row in labels])


def save(path, x, y):
    dump_svmlight_file(x, y, str(path), zero_based=False)
    return path


def synthetic_text(rows, words, classes):
    """Rows of unit length with some 50 words each, of which few are frequent; every class prefers
    words of its own, and one label in twenty is wrong."""
    random = np.random.default_rng(1)
    frequency = 1.0 / np.arange(1, words + 1)
    y = random.integers(classes, size=rows)
    starts, indices, values = [0], [], []
    preferred = [frequency * np.where(random.random(words) < 0.2, 3.0, 1.0) for _ in range(classes)]
    preferred = [p / p.sum() for p in preferred]
    lengths = random.integers(30, 100, size=rows)
    for label, length in zip(y, lengths):
        row, counts = np.unique(random.choice(words, length, p=preferred[label]), return_counts=True)
        weights = np.log1p(counts) * np.log(1 + np.arange(1, words + 1))[row]
        indices.append(row)
        values.append(weights / np.linalg.norm(weights))
        starts.append(starts[-1] + len(row))
    wrong = random.random(rows) < 0.05
    y[wrong] = random.integers(classes, size=wrong.sum())
    x = csr_matrix((np.concatenate(values), np.concatenate(indices), starts), shape=(rows, words))
    return x, y


def objective(weights, x, y, c):
    """LIBLINEAR's objective, from its formula."""
    if len(weights) == 1:
        hinge = np.maximum(0, 1 - np.where(y == y.max(), 1, -1) * (x @ weights[0]))
    else:
        at, truth = np.arange(len(y)), np.searchsorted(np.unique(y), y)
        scores = x @ weights.T + 1
        scores[at, truth] -= 1
        hinge = scores.max(axis=1) - scores[at, truth]
    return float(0.5 * (weights**2).sum() + c * hinge.sum())


def fit(x, y, c, tolerance, least=0.0):
    """The weights of a fit and its seconds on the processor: the mean over as many fits as it takes
    to spend `least` seconds."""
    options = {"multi_class": "crammer_singer"} if len(np.unique(y)) > 2 else {}
    model = LinearSVC(loss="hinge", C=c, tol=tolerance, max_iter=10**8, dual=True,
                      fit_intercept=False, random_state=1, **options)
    begin, runs = time.process_time(), 0
    while runs == 0 or time.process_time() - begin < least:
        model.fit(x, y)
        runs += 1
    return model.coef_, (time.process_time() - begin) / runs


def ask(race, *args):
    done = subprocess.run([race, *map(str, args)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def race_once(race, name, path, c, repeats, most):
    """One row of the table."""
    x, y = load_svmlight_file(str(path), zero_based=False)
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    best = ask(race, "optimum", path, repr(c))["below"]
    for tolerance in TOLERANCES:
        weights, seconds = fit(x, y, c, tolerance)
        reached = objective(weights, x, y, c)
        if reached <= best * (1 + CLOSE_ENOUGH) or seconds > most:
            break
    idle = min(fit(x, y, c, 1e30, LEAST)[1] for _ in range(3))
    theirs, ours, objectives = [], [], []
    for _ in range(repeats):
        theirs.append(fit(x, y, c, tolerance, LEAST)[1] - idle)
        answer = ask(race, "time", path, repr(c), repr(reached))
        ours.append(answer["cpu"])
        objectives.append(answer["objective"])
    assert max(objectives) <= reached * (1 + 1.01 * CLOSE_ENOUGH)
    its, our = statistics.median(theirs), statistics.median(ours)
    ratios = sorted(ours[i] / theirs[i] for i in range(repeats))
    print(f"| {name} | {x.shape[0]} | {len(np.unique(y))} | {c:g} | {tolerance:.0e} | {reached:.9g} "
          f"| {reached / best - 1:.1e} | {max(objectives):.9g} | {max(objectives) / best - 1:.1e} "
          f"| {its:.4f} | {our:.4f} | **{our / its:.2f}** | {ratios[0]:.2f}–{ratios[-1]:.2f} |",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("race", nargs="?", default=ROOT / "target" / "release" / "race")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--most", type=float, default=30, help="seconds a fit may take")
    parser.add_argument("--only", default="", help="data sets whose name has this in it")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    print(f"scikit-learn {sklearn.__version__}, {args.repeats} turns each\n")
    print("| data | rows | classes | C | LIBLINEAR's tol | its objective | above the optimum | ours "
          "| above | its s | ours | ratio | of turns |")
    print("|" + "---|" * 13)
    with tempfile.TemporaryDirectory() as folder:
        for name, path in data_sets(args.race, Path(folder)):
            for c in STRENGTHS if args.only in name else ():
                race_once(args.race, name, path, c, args.repeats, args.most)


if __name__ == "__main__":
    main()

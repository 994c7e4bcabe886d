"""CoNLL-2000 chunking from Python: maxmargin against python-crfsuite's trainers.

    pip install python-crfsuite
    python benchmarks/python/conll.py TRAIN TEST [--quick]

Files are in CoNLL-2000's format, gzipped or not. All trainers see the same attributes (CRFsuite's
chunking template). Seconds are processor time of this process, since other work may share the machine:
only ratios in one run count. Threads are 1 throughout.
"""

import argparse
import tempfile
import time
import warnings

import pycrfsuite

import maxmargin
from maxmargin import ChainSVM
from maxmargin.io import chunk_f1

TRAINERS = {
    "pa": {"max_iterations": 50},
    "ap": {"max_iterations": 50},
    "l2sgd": {"max_iterations": 50},
    "lbfgs": {"max_iterations": 150},
}


class Clock:
    """Processor seconds."""

    def __enter__(self):
        self.begin = time.process_time()
        return self

    def __exit__(self, *error):
        self.seconds = time.process_time() - self.begin


def crfsuite(name, options, X, y, X_test, y_test, file):
    """Seconds to append, seconds to train, test F1."""
    trainer = pycrfsuite.Trainer(algorithm=name, verbose=False)
    trainer.set_params(options)
    with Clock() as append:
        for tokens, labels in zip(X, y, strict=True):
            trainer.append(tokens, labels)
    with Clock() as train:
        trainer.train(file)
    tagger = pycrfsuite.Tagger()
    tagger.open(file)
    return append.seconds, train.seconds, chunk_f1(y_test, [tagger.tag(t) for t in X_test])[2]


def ours(passes, lam, X, y, X_test, y_test):
    """Seconds of fit in all, of these in training, test F1, gap."""
    options = {"average": "weighted", "gap_every": 1000}
    model = ChainSVM(lam=lam, tol=0, max_passes=passes, solver="bcfw", options=options, n_jobs=1)
    with Clock() as fit, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    f1 = chunk_f1(y_test, model.predict(X_test))[2]
    return fit.seconds, model.totals_["seconds"], f1, model.certificate_.gap


def choose(X, y):
    """λ by chunk F1 on every tenth sentence of the training data, trained on the others."""
    out = slice(None, None, 10)
    rest = [i for i in range(len(X)) if i % 10]
    X_rest, y_rest = [X[i] for i in rest], [y[i] for i in rest]
    found = {}
    for lam in (0.1, 0.03, 0.01, 0.003, 0.001):
        found[lam] = ours(5, lam, X_rest, y_rest, X[out], y[out])[2]
        print(f"λ = {lam:g}: F1 {100 * found[lam]:.2f} held out", flush=True)
    return max(found, key=found.get)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--quick", action="store_true", help="a tenth of the data, few iterations")
    parser.add_argument("--lam", type=float, help="λ; chosen on held-out data if not given")
    args = parser.parse_args()
    with Clock() as read:
        X, y = maxmargin.read_sequences(args.train, "conll")
        X_test, y_test = maxmargin.read_sequences(args.test, "conll")
    if args.quick:
        X, y = X[::10], y[::10]
    print(f"{len(X)} sentences, read in {read.seconds:.1f} s\n")
    with Clock() as chosen:
        lam = args.lam or choose(X, y)
    print(f"λ = {lam:g}, chosen in {chosen.seconds:.1f} s\n")
    print(
        "| trainer | fit: s of processor | of these training | chunk F1 | gap |\n|---|---|---|---|---|"
    )
    for passes in (1, 2, 3, 5, 8, 12, 20):
        fit, train, f1, gap = ours(passes, lam, X, y, X_test, y_test)
        row = f"{fit:.1f} | {train:.1f} (wall) | {100 * f1:.2f} | {gap:.3g}"
        print(f"| maxmargin, {passes} passes | {row} |", flush=True)
    for name, options in TRAINERS.items():
        if args.quick:
            options = {"max_iterations": 5}
        with tempfile.NamedTemporaryFile() as file:
            append, train, f1 = crfsuite(name, options, X, y, X_test, y_test, file.name)
        label = f"python-crfsuite {name}, {options['max_iterations']} iterations"
        print(f"| {label} | {append + train:.1f} | {train:.1f} | {100 * f1:.2f} | – |", flush=True)


if __name__ == "__main__":
    main()

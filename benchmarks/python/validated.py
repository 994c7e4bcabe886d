"""CoNLL-2000 chunking where nothing was chosen by looking at the test data.

    python benchmarks/python/validated.py TRAIN TEST

λ and the number of passes are those with the least share of wrong tags on every tenth sentence of the
training data, found by `ChainSVM`'s own early stopping. Test figures are computed once for each row,
after everything is chosen. Seconds are processor time of this process; threads are 1.
"""

import argparse
import time
import warnings

import numpy as np

import maxmargin
from maxmargin import ChainSVM
from maxmargin.io import chunk_f1

LAMBDAS = (0.1, 0.03, 0.01, 0.003, 0.001)
OPTIONS = {"average": "weighted", "gap_every": 1}


def fitted(X, y, validation=None, **settings):
    """A fitted model, and processor seconds of its fit."""
    model = ChainSVM(tol=0, solver="bcfw", n_jobs=1, **settings)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, validation=validation)
    return model, time.process_time() - begin


def show(name, seconds, model, X_test, y_test):
    f1 = chunk_f1(y_test, model.predict(X_test))[2]
    print(f"| {name} | {seconds:.1f} | {100 * f1:.2f} | {model.certificate_.gap:.3g} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--patience", type=int, default=3)
    args = parser.parse_args()
    X, y = maxmargin.read_sequences(args.train, "conll")
    rest = [i for i in range(len(X)) if i % 10]
    held_out = X[::10], y[::10]
    X_rest, y_rest = [X[i] for i in rest], [y[i] for i in rest]
    found, searching = {}, 0.0
    for lam in LAMBDAS:
        settings = {"lam": lam, "max_passes": 50, "patience": args.patience, "options": OPTIONS}
        model, seconds = fitted(X_rest, y_rest, held_out, **settings)
        searching += seconds
        history = model.history_[~np.isnan(model.history_["validation"])]
        passes = int(history["passes"][np.argmin(history["validation"])])
        found[lam] = model.validation_error_, passes, model
        f1 = 100 * chunk_f1(held_out[1], model.predict(held_out[0]))[2]
        error = 100 * model.validation_error_
        print(
            f"λ = {lam:g}: {error:.3f} % of tags wrong after {passes} passes, F1 {f1:.2f} held out"
        )
    lam = min(found, key=lambda lam: found[lam][0])
    _, passes, chosen = found[lam]
    print(f"λ = {lam:g} and {passes} passes, chosen in {searching:.1f} s\n")
    X_test, y_test = maxmargin.read_sequences(args.test, "conll")
    print("| model | fit: s of processor | test chunk F1 | gap |\n|---|---|---|---|")
    show("the best of the search, on nine tenths", searching, chosen, X_test, y_test)
    options = {**OPTIONS, "gap_every": 1000}
    model, seconds = fitted(X, y, lam=lam, max_passes=passes, options=options)
    show("the same λ and passes on all, without the search", seconds, model, X_test, y_test)
    model, seconds = fitted(X, y, patience=args.patience)
    show(f"defaults (λ = 1/n) with patience={args.patience}", seconds, model, X_test, y_test)


if __name__ == "__main__":
    main()

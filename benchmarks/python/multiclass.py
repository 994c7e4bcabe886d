"""Multiclass SVMs from Python: MulticlassSVM against LinearSVC with Crammer and Singer's loss.

    python benchmarks/python/multiclass.py

Both minimise the same objective; seconds are processor time, and the objective of both is computed here.
"""

import time
import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.svm import LinearSVC

from maxmargin import MulticlassSVM


def data():
    X, y = load_digits(return_X_y=True)
    yield "digits", X / 16.0, y
    rng = np.random.default_rng(0)
    w = rng.normal(size=(100, 20))
    X = rng.normal(size=(20_000, 100)) / 10.0
    yield (
        "synthetic 20000 × 100, 20 classes",
        X,
        np.argmax(X @ w + 0.3 * rng.normal(size=(20_000, 20)), axis=1),
    )


def objective(w, X, y, lam):
    scores = X @ w.T
    hinge = (scores + (np.arange(len(w)) != y[:, None])).max(axis=1) - scores[np.arange(len(y)), y]
    return lam / 2 * np.sum(w**2) + hinge.mean()


def timed(model, X, y):
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    return time.process_time() - begin


def main():
    print(
        "| data | model | s of processor | objective | proven lower bound |\n|---|---|---|---|---|"
    )
    for name, X, y in data():
        lam = 1.0 / len(X)
        for tol in (1e-2, 1e-3, 1e-4):
            model = MulticlassSVM(C=1.0, tol=tol, fit_intercept=False)
            seconds = timed(model, X, y)
            primal, dual = objective(model.coef_, X, y, lam), model.certificate_.dual
            print(
                f"| {name} | MulticlassSVM, tol {tol:g} | {seconds:.2f} | {primal:.6f} | {dual:.6f} |",
                flush=True,
            )
        for tol in (1e-1, 1e-2, 1e-4):
            model = LinearSVC(
                C=1.0, multi_class="crammer_singer", fit_intercept=False, tol=tol, max_iter=10_000
            )
            seconds = timed(model, X, y)
            primal = objective(model.coef_, X, y, lam)
            print(
                f"| {name} | LinearSVC, tol {tol:g} | {seconds:.2f} | {primal:.6f} | – |",
                flush=True,
            )


if __name__ == "__main__":
    main()

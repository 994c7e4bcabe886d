"""What training adds to the methods of a structure that is written in Python.

    python benchmarks/python/own_oracle.py

The structure decodes by counting, so that nearly all CPU time of the training is overhead: the call from the
native half, its features and its loss, and the step of the solver itself. Times are CPU microseconds a call.
"""

import time
import warnings

import numpy as np

from maxmargin import StructuredSVM

LABELS, EXAMPLES = 8, 200


class Counting:
    """Answers with the next label; features are rows of a table in some form."""

    def __init__(self, dim, form):
        self.n_features = dim
        self.calls = 0
        rows = np.random.default_rng(0).normal(size=(LABELS, dim))
        places = [np.arange(dim // 20, dtype=np.int64) + dim // 20 * k for k in range(LABELS)]
        forms = {
            "array": lambda k: rows[k],
            "pair": lambda k: (places[k], rows[k, places[k]]),
            "dictionary": lambda k: dict(zip(places[k].tolist(), rows[k].tolist(), strict=False)),
        }
        self.table = [forms[form](k) for k in range(LABELS)]

    def decode(self, x, y, w, loss_augmented):
        self.calls += 1
        return (x + self.calls) % LABELS

    def features(self, x, y):
        return self.table[y]

    def loss(self, y, y_hat):
        return 0.0 if y == y_hat else 1.0


def overhead(dim, form):
    """CPU seconds a call beyond those of the methods, the least of five runs; and those of the methods."""
    structure, X = Counting(dim, form), list(range(EXAMPLES))
    y = [i % LABELS for i in X]
    best, own = np.inf, np.inf
    for _ in range(5):
        structure.calls = 0
        model = StructuredSVM(
            structure, lam=1.0, tol=1e-12, max_passes=50, solver="bcfw", options={"gap_every": 10**6}
        )
        start = time.process_time()
        model.fit(X, y)
        whole, calls = time.process_time() - start, structure.calls
        start = time.process_time()
        for call in range(calls):
            i = call % EXAMPLES
            found = structure.decode(X[i], y[i], model.coef_, True)
            structure.features(X[i], found)
            structure.loss(y[i], found)
        methods = time.process_time() - start
        best, own = min(best, (whole - methods) / calls), min(own, methods / calls)
    return best, own


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print("| features | weights | µs a call beyond the methods | µs of the methods |")
    print("|---|---|---|---|")
    for form, dim in (("array", 20), ("array", 200), ("pair", 200), ("dictionary", 200)):
        more, own = overhead(dim, form)
        print(f"| {form} | {dim} | {1e6 * more:.2f} | {1e6 * own:.2f} |")

"""Rounds, seconds and bytes of a training in K shards, which take turns on this machine.

    python benchmarks/cluster.py --rounds 40 --workers 1 2 4 8 16 [--only ocr]

The seconds of a round on a cluster are those of its slowest worker; the network comes on top, by its bytes. One
line per data set and K: rounds until the gap is a share of the objective, the gap after all rounds, seconds of the
slowest worker, and bytes sent in a round.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

from maxmargin import ChainSVM, MulticlassSVM, read_sequences
from maxmargin.distributed import SerialBackend

SHARES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)


def digits():
    from sklearn.datasets import load_digits

    found = load_digits()
    return MulticlassSVM(lam=0.01, standardise=False), found.data / 16.0, found.target


def ocr():
    X, y, *_ = read_sequences("ocr-small")
    return ChainSVM(), X, y


DATA = {"digits": digits, "ocr": ocr}


def one(make, workers: int, rounds: int, passes: int) -> str:
    estimator, X, y = make()
    # One worker would train as one machine does, without rounds; the same passes and checks are comparable.
    backend = SerialBackend(max(2, workers), local_passes=passes, check_every=1)
    if workers == 1:
        estimator.set_params(tol=1e-9, max_passes=rounds * passes, options={"gap_every": passes})
    else:
        estimator.set_params(tol=1e-9, max_passes=rounds * passes, backend=backend)
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X, y)
    seconds = time.perf_counter() - begin
    history = estimator.history_
    history = history[~np.isnan(history["gap"])]
    share = history["gap"] / history["primal"]
    best = np.minimum.accumulate(share)
    reached = []
    for wanted in SHARES:
        there = np.flatnonzero(best <= wanted)
        reached.append(str(there[0] + 1) if len(there) else "–")
    slowest, sent = seconds, 0.0
    if workers > 1:
        slowest = sum(max(about.get("worker_seconds", [0.0])) for about in estimator.rounds_)
        sent = float(np.mean([about.get("bytes", 0) for about in estimator.rounds_]))
    cells = [str(workers), *reached, f"{best[-1]:.4f}", f"{slowest:.2f}", f"{sent / 1e6:.2f}"]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--only", nargs="+", choices=sorted(DATA), default=sorted(DATA))
    options = parser.parse_args()
    for name in options.only:
        shares = " | ".join(f"{share:.0%}" for share in SHARES)
        print(f"\n## {name}, {options.passes} passes in a round\n")
        print(f"| K | {shares} | gap after {options.rounds} rounds | s of the slowest | MB per round |")
        print("|---" * (len(SHARES) + 4) + "|")
        for workers in options.workers:
            make = DATA[name]
            print(one(make, workers, options.rounds, options.passes), flush=True)


if __name__ == "__main__":
    main()

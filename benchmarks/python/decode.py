"""Decoders on arrays against those of others, on one core of the same machine.

    python benchmarks/python/decode.py

Compares `maxmargin.decode` with SciPy's assignment, and with dlib's assignment and torch-struct's Viterbi where
these are installed (`pip install dlib-bin torch-struct`). Times are CPU seconds of this process, which suffer less
from busy neighbours than seconds of the clock; each figure is the median of ratios of runs in turn.
"""

import importlib
import statistics
import time

import numpy as np
from scipy.optimize import linear_sum_assignment

from maxmargin.decode import assignment, viterbi


def optional(name):
    """A module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def seconds(work, rounds=3):
    """The CPU seconds of the fastest of some rounds."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def compare(ours, others, turns=5):
    """Our seconds, and the medians of the ratios of theirs to ours, by name."""
    own, ratios = [], {name: [] for name in others}
    for _ in range(turns):
        own.append(seconds(ours))
        for name, theirs in others.items():
            ratios[name].append(seconds(theirs, rounds=1) / own[-1])
    return statistics.median(own), {name: statistics.median(r) for name, r in ratios.items()}


def assignments():
    """Square tables of normal numbers; dlib takes whole numbers."""
    dlib = optional("dlib")
    print("| rows and columns | items | µs an item | SciPy / ours | dlib / ours |")
    print("|---|---|---|---|---|")
    rng = np.random.default_rng(0)
    for size, items in ((5, 2000), (20, 500), (100, 30), (300, 5)):
        tables = rng.normal(size=(items, size, size))
        others = {"SciPy": lambda t=tables: [linear_sum_assignment(x, maximize=True) for x in t]}
        if dlib is not None:
            whole = [dlib.matrix(np.round(1e6 * x).tolist()) for x in tables]
            others["dlib"] = lambda w=whole: [dlib.max_cost_assignment(x) for x in w]
        own, ratios = compare(lambda t=tables: assignment(t, n_jobs=1), others)
        shown = [f"{ratios[name]:.2f}" if name in ratios else "–" for name in ("SciPy", "dlib")]
        print(f"| {size} | {items} | {1e6 * own / items:.2f} | {' | '.join(shown)} |")


def chains():
    """Chains of 20 tokens with one transition matrix."""
    torch, torch_struct = optional("torch"), optional("torch_struct")
    if torch is not None:
        torch.set_num_threads(1)
    print("\n| labels | items | µs a token | torch-struct / ours |")
    print("|---|---|---|---|")
    rng = np.random.default_rng(0)
    for labels, items in ((3, 500), (26, 200), (100, 20)):
        scores = rng.normal(size=(items, 20, labels))
        transitions = rng.normal(size=(labels, labels))
        others = {}
        if torch_struct is not None:
            others["torch-struct"] = their_viterbi(torch, torch_struct, scores, transitions)
        own, ratios = compare(lambda s=scores, t=transitions: viterbi(s, t, n_jobs=1), others)
        shown = f"{ratios['torch-struct']:.1f}" if ratios else "–"
        print(f"| {labels} | {items} | {1e6 * own / items / 20:.3f} | {shown} |")


def their_viterbi(torch, torch_struct, scores, transitions):
    """torch-struct scores pairs of neighbours, the later label first; its best labels are a gradient."""
    pairs = torch.as_tensor(scores[:, 1:, :, None] + transitions.T[None, None])
    pairs[:, 0] += torch.as_tensor(scores[:, 0, None, :])

    def work():
        return torch_struct.LinearChainCRF(pairs).argmax

    best = torch_struct.LinearChainCRF.struct.from_parts(work())[0].numpy()
    assert (best == viterbi(scores, transitions).labels).all(), "both find the best labels"
    return work


if __name__ == "__main__":
    assignments()
    chains()

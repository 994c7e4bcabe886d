"""Data for tests. The package under test is the installed wheel, never the sources."""

import pathlib
import signal

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

import maxmargin

matplotlib.use("Agg")

SOURCES = pathlib.Path(__file__).resolve().parents[1]


def pytest_sessionstart(session):
    found = pathlib.Path(maxmargin.__file__).resolve()
    if SOURCES in found.parents:
        raise pytest.UsageError(f"{found} is a source file; install the wheel (see python/test)")


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    plt.close("all")


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def sequences(rng):
    """Sequences of two to five tokens, whose labels depend on three of four columns."""
    w = rng.normal(size=(4, 3))
    X, y = [], []
    for _ in range(30):
        tokens = rng.normal(size=(rng.integers(2, 6), 4))
        X.append(tokens)
        y.append([["red", "green", "blue"][k] for k in np.argmax(tokens @ w, axis=1)])
    return X, y


def same_optimum(a, b):
    """Whether two fitted models may be of the same problem: their proofs leave room for one optimum,
    and their weights are no further from it than λ-strong convexity allows."""
    c, d = a.certificate_, b.certificate_
    away = np.sqrt(2 * c.gap / c.lam) + np.sqrt(2 * d.gap / d.lam)
    return (
        c.lam == pytest.approx(d.lam)
        and max(c.dual, d.dual) <= min(c.primal, d.primal) + 1e-9
        and np.linalg.norm(a.coef_ - b.coef_) <= away + 1e-9
    )


@pytest.fixture
def ctrl_c():
    """Ctrl-C as on a terminal: a process that runs in the background ignores it from the start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

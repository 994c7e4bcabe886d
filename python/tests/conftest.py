"""Data for tests. The package under test is the installed wheel, never the sources."""

import pathlib

import matplotlib
import numpy as np
import pytest

import maxmargin

matplotlib.use("Agg")

SOURCES = pathlib.Path(__file__).resolve().parents[1]


def pytest_sessionstart(session):
    found = pathlib.Path(maxmargin.__file__).resolve()
    if SOURCES in found.parents:
        raise pytest.UsageError(f"{found} is a source file; install the wheel (see python/test)")


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

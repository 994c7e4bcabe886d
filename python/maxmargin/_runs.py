"""Finished trainings, to look at one by one or side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _maxmargin as native
from ._certificate import Certificate
from ._html import curves, facts, page_inline, table
from ._types import PathLike


@dataclass(frozen=True)
class Run:
    """How a training went. Notebooks show its figures and its gap over time.

    Attributes
    ----------
    name : str
        The name of the estimator.
    certificate : Certificate
        What is proven.
    status : str
        Why training ended.
    history : structured ndarray
        One row for each pass.
    totals : dict
        What training took: ``passes``, ``oracle_calls``, ``seconds``, …
    """

    name: str
    certificate: Certificate
    status: str
    history: np.ndarray
    totals: dict[str, Any]

    def _curve(self, x: str) -> tuple[str, np.ndarray, np.ndarray]:
        return self.name, self.history[x], self.history["gap"]

    def _cells(self) -> list[str]:
        c, t = self.certificate, self.totals
        return [
            self.name,
            self.status,
            f"{c.primal:.6g}",
            f"{c.gap:.4g}",
            c.quality,
            str(int(t["passes"])),
            str(int(t["oracle_calls"])),
            f"{t['seconds']:.2f}",
        ]

    def _repr_html_(self) -> str:
        rows = [
            ("ended", self.status),
            *self.certificate._rows(),
            ("passes", str(int(self.totals["passes"]))),
            ("oracle calls", str(int(self.totals["oracle_calls"]))),
            ("seconds", f"{self.totals['seconds']:.2f}"),
        ]
        picture = curves("duality gap", "seconds", [self._curve("seconds")])
        return f"<div>{facts(self.name, rows)}{picture}</div>"


class Comparison(Mapping[str, Run]):
    """Runs side by side, by name; made by :func:`compare_runs`. Notebooks show a table and all gaps over
    ``x``."""

    HEAD = ("run", "ended", "objective", "gap", "worth", "passes", "oracle calls", "seconds")

    def __init__(self, runs: Mapping[str, Run], x: str = "seconds") -> None:
        self._runs = dict(runs)
        self.x = x

    def __getitem__(self, name: str) -> Run:
        return self._runs[name]

    def __iter__(self) -> Any:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        cells = [list(self.HEAD), *(run._cells() for run in self.values())]
        widths = [max(len(row[at]) for row in cells) for at in range(len(self.HEAD))]
        lines = ["  ".join(f"{c:<{w}}" for c, w in zip(row, widths, strict=True)) for row in cells]
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        rows = [run._cells() for run in self.values()]
        picture = curves("duality gap", self.x, [run._curve(self.x) for run in self.values()])
        return f"<div>{table('Runs', self.HEAD, rows)}{picture}</div>"


def compare_runs(runs: Mapping[str, Any], x: str = "seconds") -> Comparison:
    """Puts fitted estimators side by side.

    Parameters
    ----------
    runs : dict
        Fitted estimators by name.
    x : str, default="seconds"
        The column of their histories that the picture of gaps goes along.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import MulticlassSVM, compare_runs
    >>> X, y = load_iris(return_X_y=True)
    >>> plain = MulticlassSVM(lam=0.1, order="uniform").fit(X, y)
    >>> found = compare_runs({"plain": plain, "auto": MulticlassSVM(lam=0.1).fit(X, y)})
    >>> list(found), found["auto"].status
    (['plain', 'auto'], 'converged')
    """
    found = {}
    for name, estimator in runs.items():
        run = estimator.run_
        found[str(name)] = Run(str(name), run.certificate, run.status, run.history, run.totals)
    for name, run in found.items():
        if x not in (run.history.dtype.names or ()):
            raise ValueError(f"the history of {name} has no column {x!r}")
    return Comparison(found, x)


@dataclass(frozen=True)
class Report:
    """A self-contained page about a training. Notebooks show it where it is."""

    html: str

    def save(self, path: PathLike) -> None:
        """Writes the page to a file, under a temporary name first."""
        import os

        native.write_page(os.fspath(path), self.html)

    def __repr__(self) -> str:
        return f"<Report of {len(self.html)} characters; save it to a file to look at it>"

    def _repr_html_(self) -> str:
        return page_inline(self.html)

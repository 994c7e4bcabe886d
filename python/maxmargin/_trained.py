"""What a trained estimator offers beside predictions: its proof, smaller weights, and pictures of its training."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _maxmargin as native
from ._certificate import Certificate, Pruning
from ._runs import Report, Run
from ._settings import number, threads, tolerances
from ._types import PathLike


def warn_if_unproven(findings: list[str], quality: str, frames: int = 3) -> list[str]:
    """What speaks against a certificate, with a warning where nothing does and nothing is proven."""
    if not findings and quality == "unproven":
        text = (
            "the figures are as claimed, but they are unproven: no outputs were found that make up "
            "the dual point"
        )
        warnings.warn(text, UserWarning, stacklevel=frames)
    return findings


class Trained:
    """Methods of all estimators that need no more than a model and its history."""

    certificate_: Certificate
    history_: np.ndarray
    n_jobs: int | None
    pruned_: Pruning | None
    status_: str
    totals_: dict[str, Any]
    _adopt: Any
    _examples: Any
    _model: native.Model

    def verify(self, X: Any, y: Any = None, **extra: Any) -> list[str]:
        """Computes the certificate again, from the data it was trained on.

        Returns
        -------
        list of str
            What speaks against it; empty if the proof holds. Where the figures are as claimed but
            cannot be proven, it is empty too, with a warning.
        """
        check_is_fitted(self, "certificate_")
        data = self._examples(X, y, labelled=True, **extra)
        return warn_if_unproven(*self._model.verify(data, threads(self.n_jobs)))

    def prune(
        self,
        X: Any,
        y: Any = None,
        *,
        cost: float | str | None = None,
        keep: float | None = None,
        below: float | None = None,
        **extra: Any,
    ) -> Pruning:
        """Sets small weights to zero, which files do not store, and says what that costs in the objective.

        The certificate is computed again: it states the objective of the pruned weights above the same bound, and
        :meth:`verify` checks it.

        Parameters
        ----------
        X, y
            The data that the model was trained on, with the further arguments of :meth:`fit`.
        cost : float or str, default="1%"
            Prune as many weights as are found to raise the objective by at most this, or this share of it.
        keep : float, optional
            Keep this share of the weights that are not zero instead, the largest.
        below : float, optional
            Prune the weights below this size instead.

        Examples
        --------
        >>> from maxmargin import ChainSVM
        >>> X, y = [[["cat"], ["purrs", "loud"]], [["dog"], ["barks"]]], [["n", "v"], ["n", "v"]]
        >>> model = ChainSVM(lam=0.1).fit(X, y)
        >>> found = model.prune(X, y, keep=0.5)
        >>> found.cost == model.certificate_.primal - found.before, model.verify(X, y)
        (True, [])
        """
        check_is_fitted(self, "certificate_")
        given = {"cost": cost, "keep": keep, "below": below}
        rules = {name: value for name, value in given.items() if value is not None}
        if len(rules) > 1:
            raise ValueError(f"{list(rules)} are different ways to prune; give one of them")
        rule, value = next(iter(rules.items()), ("cost", "1%"))
        if rule == "cost":
            most, share = tolerances(value)
            value = share + most / abs(self.certificate_.primal or 1.0)
        data = self._examples(X, y, labelled=True, **extra)
        columns = self._history_columns()
        number_of = number(rule, value)
        model = self._model.prune(data, rule, number_of, threads(self.n_jobs))
        self._adopt(model, columns)
        assert self.pruned_ is not None
        return self.pruned_

    # Pictures

    @property
    def run_(self) -> Run:
        """How the training went, for notebooks and :func:`compare_runs`."""
        check_is_fitted(self, "certificate_")
        name = type(self).__name__
        return Run(name, self.certificate_, self.status_, self.history_, self.totals_)

    def report(self, title: str | None = None) -> Report:
        """A self-contained HTML page about the training, which notebooks show where they are."""
        check_is_fitted(self, "certificate_")
        return Report(self._page(title or type(self).__name__))

    def _page(self, title: str) -> str:
        return self._model.report(title, self._history_columns())

    def plot_convergence(self, ax: Any = None, x: str = "effective_passes") -> Any:
        """Draws the duality gap, or what is known of it, over passes or seconds.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        x : str, default="effective_passes"
            The column of ``history_`` to go along.
        """
        from ._plots import convergence

        check_is_fitted(self, "certificate_")
        return convergence(self.history_, ax, x)

    def plot_weights(self, ax: Any = None, top: int = 20) -> Any:
        """Draws the weights: of pairs of labels as a heat-map where there are such, else the largest.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        top : int, default=20
            How many of the largest weights to draw.
        """
        from ._plots import weights

        check_is_fitted(self, "certificate_")
        return weights(self, ax, top)

    def _weight_names(self) -> list[str]:
        """A name for each weight, in their order."""
        names: list[str] = []
        for group, start, stop, _ in self._model.groups():
            names.extend(f"{group}[{at}]" for at in range(stop - start))
        return names

    def to_report(self, path: PathLike, title: str | None = None) -> None:
        """Writes a self-contained HTML page about the training."""
        self.report(title).save(path)

    def _history_columns(self) -> dict[str, np.ndarray]:
        names = self.history_.dtype.names or ()
        return {name: self.history_[name].astype(np.float64) for name in names}

"""What all estimators share: parameters, training, what is known afterwards, files, pictures."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import sklearn.exceptions
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import _maxmargin as native
from ._progress import Progress, logger
from ._settings import (
    as_json,
    group_bounds,
    lambda_rule,
    number,
    seed,
    strength,
    threads,
    tolerance_of,
    tolerances,
    when_standardised,
    whole_number,
)
from .io import SequenceFile

PathLike = str | os.PathLike[str]


class ConvergenceWarning(sklearn.exceptions.ConvergenceWarning):
    """Training ended before the duality gap was within the tolerance."""


@dataclass(frozen=True)
class Certificate:
    """A proof of how good a model is: no weights have an objective below ``dual``.

    Attributes
    ----------
    lam : float
        The regularization strength λ that was trained with.
    primal : float
        The objective λ/2 ‖w‖² + mean structured hinge loss of the weights.
    dual : float
        A lower bound of the objective of any weights.
    gap : float
        ``primal - dual``: how far from the optimum the weights can be at most.
    quality : str
        What the gap is a bound of: ``"exact"``, ``"upper-bound"`` (the problem was relaxed),
        ``"heuristic"`` (the true gap may be larger), ``"unfinished"`` (there was no time to compute all
        of it: the true gap may be larger), or ``"unproven"`` (it proves nothing).
    problem : str
        The problem that was solved: the structured SVM, its relaxation, or one with soft constraints.
    """

    lam: float
    primal: float
    dual: float
    gap: float
    quality: str = "exact"
    problem: str = "structured SVM with margin rescaling"

    @classmethod
    def _of(cls, meta: dict[str, Any], problem: str) -> Certificate:
        return cls(
            lam=meta["lambda"],
            primal=meta["primal"],
            dual=meta["dual"],
            gap=meta["gap"],
            quality=meta.get("quality", "exact"),
            problem=problem,
        )


def warn_if_unproven(findings: list[str], quality: str, frames: int = 3) -> list[str]:
    """What speaks against a certificate, with a warning where nothing does and nothing is proven."""
    if not findings and quality == "unproven":
        text = (
            "the figures are as claimed, but they are unproven: no outputs were found that make up "
            "the dual point"
        )
        warnings.warn(text, UserWarning, stacklevel=frames)
    return findings


@dataclass
class Prepared:
    """Data on their way into training."""

    spec: dict[str, Any]
    data: Any
    labels: Any
    attributes: Any
    format: str
    total_weight: float
    bounds: dict[str, dict[str, float]] = field(default_factory=dict)
    #: Rounds of soft training: one rho after the other, and how many with multipliers at most.
    rounds: tuple[list[float], int] | None = None
    #: Whether a decoder that may be wrong is refused.
    exact: bool = False

    def task(self) -> tuple[str, Any, Any, Any, str]:
        """The first arguments of native functions."""
        return (
            as_json("the model", self.spec),
            self.data,
            self.labels,
            self.attributes,
            self.format,
        )


def history_array(columns: dict[str, np.ndarray]) -> np.ndarray:
    """A history as a structured array, one row a pass."""
    whole = {"passes", "visits", "oracle_calls", "step_zero", "step_full"}
    kinds = [(name, np.int64 if name in whole else np.float64) for name in columns]
    rows = np.empty(len(next(iter(columns.values()))), dtype=kinds)
    for name, values in columns.items():
        rows[name] = values
    return rows


class BaseSVM(BaseEstimator):
    """The parent of all estimators; see them for how to use it."""

    _kind: ClassVar[str] = ""

    def _keep(self, given: dict[str, Any]) -> None:
        """Keeps the arguments of ``__init__`` as they are, under their names, as scikit-learn wants."""
        for name, value in given.items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    def settings(self, total_weight: float = 1.0) -> dict[str, Any]:
        """The settings of a run, under the names that model files use.

        >>> from maxmargin import ChainSVM
        >>> ChainSVM(C=2.0).settings(total_weight=10)["lambda"]
        0.05
        """
        gap, share = tolerances(self.tol)
        settings: dict[str, Any] = {
            "solver": self.solver,
            "tolerance": gap,
            "relative_tolerance": share,
            "max_passes": self._most_passes(),
            "seed": seed(self.random_state),
            "threads": threads(self.n_jobs),
        }
        lam = strength(self.lam, self.C, total_weight)
        if lam is not None:
            settings["lambda"] = lam
        parts = {"order": self.order, "direction": self.direction, "cache": self.cache}
        given = {name: value for name, value in parts.items() if value is not None}
        if given and self.solver == "auto":
            # Who sets a part of the loop wants that loop, and not auto, which would choose it.
            settings["solver"] = "bcfw"
        settings.update(given)
        if self.max_seconds is not None:
            settings["max_seconds"] = number("max_seconds", self.max_seconds)
        if self.patience is not None:
            settings["patience"] = whole_number("patience", self.patience, 1)
        if self.options is not None and not isinstance(self.options, Mapping):
            raise ValueError(f"options is {self.options!r}; it must be a dictionary of settings")
        settings.update(self.options or {})
        return settings

    def _most_passes(self) -> int:
        return whole_number("max_passes", self.max_passes, 1)

    def _held_out(self, own_data: bool) -> tuple[int, int] | None:
        """How much of the data is kept back, as a seed and one in so many."""
        if own_data:
            return None
        share = self.validation
        if share is None:
            share = 0.1 if self.patience is not None else None
        if share is None:
            return None
        if isinstance(share, (tuple, list)):
            raise ValueError(
                "the parameter validation is a share of the data to hold out; give data of your own "
                "to fit(…, validation=(X, y))"
            )
        if not 0.0 < number("validation", share) < 1.0:
            raise ValueError(f"validation is {share}; it must be a share between 0 and 1")
        return seed(self.random_state), max(2, round(1.0 / float(share)))

    def _progress(self) -> Progress:
        return Progress(self.verbose, self.callback, self._most_passes())

    def _run(self, prepared: Prepared, validation: Any = None) -> None:
        """Trains, and takes note of the result."""
        progress = self._progress()
        start = getattr(self, "_model", None) if self.warm_start else None
        try:
            model, columns, curve = native.fit(
                *prepared.task(),
                as_json("settings", self.settings(prepared.total_weight)),
                as_json("bounds", prepared.bounds or group_bounds(None)),
                held_out=self._held_out(validation is not None),
                validation=validation,
                start=start,
                callback=progress if progress.wanted else None,
                rounds=prepared.rounds,
                exact=prepared.exact,
                rule=lambda_rule(self.lam, self.C),
                measure=getattr(self, "measure", None),
                standardise=when_standardised(getattr(self, "standardise", False)),
            )
        finally:
            progress.close()
        self._keep_curve(curve)
        self._adopt(model, columns)
        self._warn()

    def _fit(self, X: Any, y: Any, sample_weight: Any, validation: Any, **extra: Any) -> None:
        """Trains here, or on a cluster if there is one."""
        if getattr(self, "backend", None) is not None:
            from .distributed._fit import fit_on_cluster

            fit_on_cluster(self, X, y, sample_weight, validation, **extra)
            return
        self.__dict__.pop("rounds_", None)
        prepared = self._prepare(X, y, sample_weight, **extra)
        self._run(prepared, self._prepare_validation(validation))

    def _keep_curve(self, curve: list[tuple[float, float]] | None) -> None:
        """Takes note of how λ was chosen, if it was."""
        self.lam_curve_: np.ndarray | None = None
        if curve is None:
            return
        self.lam_curve_ = np.array(curve, dtype=[("lam", np.float64), ("error", np.float64)])
        for lam, error in curve:
            logger.info("lam %.3e: error %.4f on data held out", lam, error)

    def _adopt(self, model: native.Model, columns: dict[str, np.ndarray]) -> None:
        """Takes over a model that was trained or loaded."""
        self._model = model
        self._note(json.loads(model.meta()), columns)
        self._set_weights()

    def _note(self, meta: dict[str, Any], columns: dict[str, np.ndarray]) -> None:
        self.certificate_ = Certificate._of(meta["certificate"], meta["problem"])
        self.status_: str = meta["status"]
        self.lam_source_: dict[str, Any] = meta.get("lambda_source") or {"rule": "given"}
        self.totals_: dict[str, Any] = meta["totals"]
        self.n_iter_ = int(meta["totals"]["passes"])
        self.choice_: dict[str, Any] | None = meta.get("choice")
        found = meta.get("validation")
        self.validation_error_: float | None = found["error"] if found else None
        self.history_ = history_array(columns)
        c = self.certificate_
        logger.info(
            "%s: primal %.6g, dual %.6g, gap %.4g (%s)",
            self.status_,
            c.primal,
            c.dual,
            c.gap,
            c.quality,
        )

    def _warn(self, frames: int = 4) -> None:
        """Warns if the training has not converged, in the name of who has called ``fit``."""
        if self.status_ in ("converged", "patience", "stopped"):
            return
        text = f"training ended with the status {self.status_!r}"
        text += f" at the gap {self.certificate_.gap:.4g}, above tol={self.tol}"
        if self.status_ == "max-passes":
            text += "; raise max_passes or tol, or scale the features"
        warnings.warn(text, ConvergenceWarning, stacklevel=frames)

    def _set_weights(self) -> None:
        raise NotImplementedError

    def _prepare(self, X: Any, y: Any, sample_weight: Any = None, **extra: Any) -> Prepared:
        raise NotImplementedError

    def _prepare_validation(self, validation: Any) -> Any:
        """Labelled data for the fitted names, from ``(X, y)``."""
        if validation is None:
            return None
        if isinstance(validation, SequenceFile):
            return self._examples(validation, labelled=True)
        return self._examples(*labelled_pair(validation))

    def _examples(self, X: Any, y: Any = None, **extra: Any) -> Any:
        raise NotImplementedError

    def _groups(self, weights: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """The weights by group, as views of all of them."""
        if weights is None:
            weights = self._model.weights()
        return {
            # A group that is left out keeps its place without a shape.
            name: weights[start:stop].reshape(shape if stop > start else (0,))
            for name, start, stop, shape in self._model.groups()
        }

    # Files

    def save(self, path: PathLike, *, dual: bool = True) -> None:
        """Writes the model to a file that the command line reads too.

        Parameters
        ----------
        path : path-like
            The file; it is written under a temporary name and renamed.
        dual : bool, default=True
            Whether the dual point is kept, without which the proof cannot be checked again.
        """
        check_is_fitted(self, "certificate_")
        self._model.save(os.fspath(path), dual)

    @classmethod
    def load(cls, path: PathLike) -> Any:
        """Reads a model that this class, or the command line, has written.

        Labels of a file are texts.
        """
        return cls._of_model(native.Model.load(os.fspath(path)))

    @classmethod
    def _of_model(cls, model: native.Model) -> Any:
        if model.kind != cls._kind:
            raise ValueError(f"the file holds a {model.kind} model, not one for {cls.__name__}")
        meta = json.loads(model.meta())
        settings = meta["settings"]
        estimator = cls(
            lam=meta["certificate"]["lambda"],
            tol=tolerance_of(settings),
            max_passes=settings["max_passes"],
            solver=settings["solver"],
            random_state=settings["seed"],
        )
        estimator._restore(model, meta)
        estimator._keep_curve(None)
        estimator._adopt(model, model.history())
        return estimator

    def _restore(self, model: native.Model, meta: dict[str, Any]) -> None:
        """Takes names over from a model that was loaded."""
        raise NotImplementedError

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

    # Pictures

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
        check_is_fitted(self, "certificate_")
        title = title or type(self).__name__
        self._model.write_report(os.fspath(path), title, self._history_columns())

    def _history_columns(self) -> dict[str, np.ndarray]:
        names = self.history_.dtype.names or ()
        return {name: self.history_[name].astype(np.float64) for name in names}


def labelled_pair(validation: Any) -> tuple[Any, Any]:
    """Inputs and true outputs to validate on."""
    if not isinstance(validation, tuple) or len(validation) != 2 or validation[1] is None:
        raise ValueError("validation must be a tuple (X, y) of data with their true outputs")
    return validation


def check_n(n: int) -> int:
    """The number of outputs to rank."""
    return whole_number("n", n, 1)


def lead(ranked: list[tuple[Any, float]]) -> float:
    """By how much the first of ranked outputs is ahead; infinitely far if there is no other."""
    return ranked[0][1] - ranked[1][1] if len(ranked) > 1 else float("inf")


def load(path: PathLike) -> Any:
    """Reads a model of any kind from a file.

    >>> import tempfile, pathlib, maxmargin
    >>> model = maxmargin.ChainSVM().fit([[["cat"], ["purrs"]]], [["noun", "verb"]])
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> model.save(file)
    >>> type(maxmargin.load(file)).__name__
    'ChainSVM'
    """
    return estimator_of(native.Model.load(os.fspath(path)))


def estimator_of(model: native.Model) -> Any:
    """The fitted estimator that a model makes."""
    from ._binary import BinarySVM
    from ._chain import ChainSVM
    from ._graphs import FactorGraphSVM
    from ._matching import MatchingSVM
    from ._multilabel import MultilabelSVM
    from ._pairwise import GraphSVM, has_labels
    from ._potts import PottsSVM
    from ._rows import MulticlassSVM
    from ._segment import SegmentSVM
    from ._tree import TreeSVM

    rows = (BinarySVM, MulticlassSVM, MultilabelSVM)
    if model.kind == GraphSVM._kind and has_labels(model):
        return GraphSVM._of_model(model)
    for cls in (ChainSVM, *rows, FactorGraphSVM, PottsSVM, TreeSVM, MatchingSVM, SegmentSVM):
        if cls._kind == model.kind:
            return cls._of_model(model)
    raise ValueError(f"models of the kind {model.kind} are not known here")


def total(sample_weight: Any, count: int) -> tuple[np.ndarray | None, float]:
    """Example weights as an array, and their sum."""
    if sample_weight is None:
        return None, float(count)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (count,):
        raise ValueError(f"sample_weight has the shape {weights.shape}, not ({count},)")
    return weights, float(weights.sum())

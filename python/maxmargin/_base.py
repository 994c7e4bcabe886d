"""What all estimators share: parameters, training, what is known afterwards, and files."""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np
import sklearn.exceptions
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import _maxmargin as native
from ._certificate import Certificate, Pruning
from ._more_data import PartialFit
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
from ._trained import Trained
from ._types import PathLike
from .io import SequenceFile

Own = TypeVar("Own", bound="BaseSVM")


class ConvergenceWarning(sklearn.exceptions.ConvergenceWarning):
    """Training ended before the duality gap was within the tolerance."""


def leave_time(settings: dict[str, Any], begun: float | None) -> None:
    """Takes the time since ``begun`` off the time limit, if there is one."""
    if begun is not None and "max_seconds" in settings:
        # What is left must be above 0; the run then ends at once, with its true gap.
        left = settings["max_seconds"] - (time.monotonic() - begun)
        settings["max_seconds"] = max(left, min(settings["max_seconds"], 1e-3))


def frames_within() -> int:
    """How many calls lie between whoever has called this package and the caller of this function, for
    ``stacklevel``."""
    frame, level = sys._getframe(1), 1
    own = str(__package__)
    while frame.f_back is not None and str(frame.f_globals.get("__package__")).startswith(own):
        frame, level = frame.f_back, level + 1
    return level


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
    #: What the λ of the rule ``"scale"`` is multiplied by, since classes count more or less than 1.
    lambda_factor: float = 1.0

    def task(self) -> tuple[str, Any, Any, Any, str]:
        """The first arguments of native functions."""
        return (
            as_json("the model", self.spec),
            self.data,
            self.labels,
            self.attributes,
            self.format,
        )


#: Further arrays that are made of the weights, and read-only like them.
PARTS_OF_WEIGHTS = (
    "dual_coef_",
    "intercept_",
    "pair_coef_",
    "pairwise_coef_",
    "unary_coef_",
)


def read_only(array: np.ndarray) -> np.ndarray:
    """The same array, which cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def history_array(columns: dict[str, np.ndarray]) -> np.ndarray:
    """A history as a structured array, one row a pass."""
    whole = {"passes", "visits", "oracle_calls", "step_zero", "step_full"}
    kinds = [(name, np.int64 if name in whole else np.float64) for name in columns]
    rows = np.empty(len(next(iter(columns.values()))), dtype=kinds)
    for name, values in columns.items():
        rows[name] = values
    return rows


class BaseSVM(PartialFit, Trained, BaseEstimator):
    """The parent of all estimators; see them for how to use it."""

    _kind: ClassVar[str] = ""
    certificate_: Certificate
    history_: np.ndarray
    status_: str
    n_iter_: int

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

    def _run(self, prepared: Prepared, validation: Any = None, begun: float | None = None) -> None:
        """Trains, and takes note of the result. The time limit counts from the moment ``begun``."""
        progress = self._progress()
        settings = self.settings(prepared.total_weight)
        leave_time(settings, begun)
        more = self._begin_run()
        start = getattr(self, "_model", None) if self.warm_start or more else None
        try:
            model, columns, curve = native.fit(
                *prepared.task(),
                as_json("settings", settings),
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
                fit_constants=self._fits_constants(),
                more=more,
                lambda_factor=prepared.lambda_factor,
            )
        finally:
            progress.close()
        self._keep_curve(curve)
        self._adopt(model, columns)
        self._conclude()

    def _fits_constants(self) -> bool:
        """Whether constant features get a value that follows the length of attributes."""
        return False

    def _fit(self, X: Any, y: Any, sample_weight: Any, validation: Any, **extra: Any) -> None:
        """Trains here, or on a cluster if there is one."""
        if getattr(self, "backend", None) is not None:
            from .distributed._fit import fit_on_cluster

            fit_on_cluster(self, X, y, sample_weight, validation, **extra)
            return
        begun = time.monotonic()
        self.__dict__.pop("rounds_", None)
        prepared = self._prepare(X, y, sample_weight, **extra)
        self._run(prepared, self._prepare_validation(validation), begun)

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
        meta = json.loads(model.meta())
        self._note(meta, columns)
        self.pruned_: Pruning | None = None
        if meta.get("pruned"):
            own = meta["pruned"]
            before, after = own.pop("primal"), self.certificate_.primal
            self.pruned_ = Pruning(before=before, after=after, **own)
        self.__dict__.pop("_coef", None)
        self._is_adopting = True
        try:
            self._set_weights()
        finally:
            del self._is_adopting
        for name in PARTS_OF_WEIGHTS:
            if isinstance(self.__dict__.get(name), np.ndarray):
                self.__dict__[name].flags.writeable = False

    @property
    def coef_(self) -> np.ndarray:
        """The weights. They are read-only: the certificate is about these and no others."""
        found: np.ndarray | None = self.__dict__.get("_coef")
        if found is None:
            raise AttributeError(f"this {type(self).__name__} has no coef_")
        return read_only(found)

    @coef_.setter
    def coef_(self, weights: np.ndarray) -> None:
        if not self.__dict__.get("_is_adopting"):
            raise AttributeError("coef_ is read-only: the certificate is about these weights")
        self._coef = weights

    def _note(self, meta: dict[str, Any], columns: dict[str, np.ndarray]) -> None:
        self.certificate_ = Certificate._of(meta["certificate"], meta["problem"])
        self.status_: str = meta["status"]
        self.lam_source_: dict[str, Any] = meta.get("lambda_source") or {"rule": "given"}
        self.totals_: dict[str, Any] = meta["totals"]
        self.n_iter_ = int(meta["totals"]["passes"])
        self.choice_: dict[str, Any] | None = meta.get("choice")
        self.theory_: dict[str, float] | None = meta.get("theory")
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

    def _conclude(self) -> None:
        """Passes a ctrl-C on now that the model is safe, so that searches over parameters stop; or warns."""
        on_interrupt = getattr(self, "on_interrupt", "raise")
        if on_interrupt not in ("raise", "keep"):
            raise ValueError(f"on_interrupt is {on_interrupt!r}; known are 'raise' and 'keep'")
        if self.status_ == "interrupted" and on_interrupt == "raise":
            raise KeyboardInterrupt(
                "training was interrupted; the estimator has the model so far, with its true gap"
            )
        self._warn()

    def _warn(self) -> None:
        """Warns if the training has not converged, in the name of who has called ``fit``."""
        if self.status_ in ("converged", "patience", "stopped"):
            return
        text = f"training ended with the status {self.status_!r}"
        text += f" at the gap {self.certificate_.gap:.4g}, above tol={self.tol}"
        if self.status_ == "max-passes":
            text += "; raise max_passes or tol, or scale the features"
        warnings.warn(text, ConvergenceWarning, stacklevel=frames_within())

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

    def _begin_shards(self, X: Any, y: Any) -> None:
        """Takes note of what a shard has to know of all examples, after they were prepared."""

    def _shard_examples(self, X: Any, y: Any, **extra: Any) -> Any:
        """The examples of a shard, for the names of all of them."""
        return self._examples(X, y, labelled=True, **extra)

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
    def load(cls: type[Own], path: PathLike) -> Own:
        """Reads a model that this class, or the command line, has written.

        Labels of a file are texts.
        """
        return cls._of_model(native.Model.load(os.fspath(path)))

    @classmethod
    def _of_model(cls: type[Own], model: native.Model) -> Own:
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


def total(sample_weight: Any, count: int) -> tuple[np.ndarray | None, float]:
    """Example weights as an array, and their sum."""
    if sample_weight is None:
        return None, float(count)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (count,):
        raise ValueError(f"sample_weight has the shape {weights.shape}, not ({count},)")
    return weights, float(weights.sum())

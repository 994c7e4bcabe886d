"""Structures that users define in Python."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _maxmargin as native
from ._base import BaseSVM, labelled_pair, leave_time, total
from ._oracle import Adapter, Structure, as_sparse, decode_all
from ._runs import Report
from ._settings import as_json, bound_arrays, is_auto, seed, threads
from ._trained import warn_if_unproven
from ._types import Cache, Callback, Direction, Lam, OnInterrupt, Order, Rescaling, Solver


class StructuredSVM(BaseSVM):
    """Learns to predict whatever you can score and decode: a structure of your own.

    Parameters
    ----------
    structure : object
        Has the methods ``decode(x, y, w, loss_augmented)``, ``features(x, y)`` and ``loss(y, y_hat)``,
        see the example. If it has the attribute ``n_features``, that is the number of weights; else
        it is the length of the arrays that ``features`` returns. If it has the method
        ``decode_batch(xs, ys, w, loss_augmented)``, which returns a list of what ``decode`` returns
        for each x and y, that is called where several outputs are needed at the same weights. If it
        has the attribute ``quality``, that says what its decoding promises: ``"exact"`` (the default),
        ``"upper-bound"`` or ``"heuristic"``.
    lam, C, tol, max_passes, solver, order, direction, cache, max_seconds, validation, patience, \
random_state, warm_start, verbose, callback, on_interrupt, options
        As in :class:`ChainSVM`.
    n_jobs : int, optional
        Threads that call ``decode`` at the same time, in the passes that compute the gap. The result
        is the same; it is faster only if ``decode`` releases Python's lock, or there is none.
    backend : {"threads", "processes"} or Backend, default="threads"
        Where ``n_jobs`` work: on threads, or all but one in processes of their own, to which the
        structure and the data are sent once. Passes over all examples send them many examples in
        one message. Or a cluster to train on, see :mod:`maxmargin.distributed`.
    bounds : tuple, optional
        ``(lower, upper)``: a number or an array each, or None.
    rescaling : {"margin", "slack"}, default="margin"
        How the loss enters: outputs with a larger loss need a larger margin, or all outputs need the same
        margin and the loss multiplies what is missing. With ``"slack"``, ``decode`` is called at several weights
        of the loss, and the certificate says how much that may have missed (``certificate_.missed``): the
        weights are within ``certificate_.proven_gap`` of the optimum.

    Attributes
    ----------
    coef_ : ndarray
        The weights.
    certificate_, history_, status_, n_iter_
        As in :class:`ChainSVM`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import StructuredSVM
    >>> class Ranking:
    ...     '''Sorts items by a linear score. y has the place of each item, from 0.'''
    ...     def decode(self, x, y, w, loss_augmented):
    ...         score = x @ w / len(x)
    ...         if loss_augmented:
    ...             score = score + y / self.worst(y)
    ...         return np.argsort(np.argsort(-score, kind="stable"))
    ...     def features(self, x, y):
    ...         return (len(x) - 1 - 2 * y) @ x / len(x)
    ...     def loss(self, y, y_hat):
    ...         return np.sum((y - y_hat) ** 2) / self.worst(y)
    ...     def worst(self, y):
    ...         return len(y) * (len(y) ** 2 - 1) / 3
    >>> rng = np.random.default_rng(0)
    >>> X = [rng.normal(size=(5, 3)) for _ in range(20)]
    >>> y = [np.argsort(np.argsort(-(x @ [1.0, -2.0, 0.5]))) for x in X]
    >>> model = StructuredSVM(Ranking(), lam=0.01, tol=0.01).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        structure: Structure | None = None,
        lam: Lam = "scale",
        *,
        C: float | None = None,
        tol: float | str = "1%",
        max_passes: int = 1000,
        solver: Solver = "auto",
        order: Order | None = None,
        direction: Direction | None = None,
        cache: Cache | None = None,
        bounds: Any = None,
        rescaling: Rescaling = "margin",
        max_seconds: float | None = None,
        validation: float | None = None,
        patience: int | None = None,
        n_jobs: int | None = None,
        backend: Any = "threads",
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        callback: Callback | None = None,
        on_interrupt: OnInterrupt = "raise",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._keep(locals())

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, validation: Any = None
    ) -> StructuredSVM:
        """Trains on inputs and their true outputs, of whatever type the structure knows.

        Parameters
        ----------
        X, y : sequences
            Inputs and outputs. On a cluster, X may be a list of functions that return ``(X, y)`` or
            ``(X, y, weights)``, a dataset of Ray or a bag of Dask, without ``y``; workers load them.
        sample_weight : array-like, optional
            A positive weight for each example.
        validation : tuple (X, y), optional
            Data to measure the mean loss on while training, instead of a part held out.

        Returns
        -------
        self

        Raises
        ------
        OracleError
            If the structure raises an exception; its ``index`` is that of the example.

        Warns
        -----
        UserWarning
            If a look at three examples shows that the structure breaks what certificates rest on, for
            instance because ``decode`` leaves out the loss. :func:`check_structure` looks closer.
        """
        begun = time.monotonic()
        if validation is not None:
            validation = labelled_pair(validation)
        if not isinstance(self.backend, str):
            from .distributed._fit import fit_structure_on_cluster

            fit_structure_on_cluster(self, X, y, sample_weight, validation)
            return self
        self.__dict__.pop("rounds_", None)
        if y is None:
            raise ValueError("y is needed")
        X, y, weights, own = self._split(list(X), list(y), sample_weight, validation)
        adapter = self._adapter(X, y)
        truths = adapter.truths()
        dim = adapter.dim
        progress = self._progress()
        more = self._begin_run()
        start = getattr(self, "dual_", None) if self.warm_start or more else None
        validator = None if own is None else self._validator(*own)
        settings = self.settings(float(weights.sum()))
        curve = None
        if is_auto(self.lam):
            leave_time(settings, begun)
            settings["lambda"], curve = self._choose_lam(X, y, weights, own, settings)
            settings |= {name: at for name, at in self.settings().items() if name == "max_seconds"}
        leave_time(settings, begun)
        try:
            w, dual, columns, about = native.fit_structure(
                adapter,
                truths,
                weights.tolist(),
                dim,
                as_json("settings", settings),
                bounds=self._bound_arrays(dim),
                quality=getattr(self.structure, "quality", "exact"),
                start=start,
                validator=validator,
                callback=progress if progress.wanted else None,
                rule="given" if "lambda" in settings else "scale",
                rescaling=self.rescaling,
            )
        finally:
            progress.close()
            adapter.close()
        self._coef = w
        self.dual_ = dual
        self._about = about
        self._keep_curve(curve)
        told = json.loads(about)
        self._note(told, columns)
        if told["warnings"]:
            text = "the structure breaks what its certificate rests on, see check_structure: "
            warnings.warn(text + "; ".join(told["warnings"]), UserWarning, stacklevel=2)
        self._conclude()
        return self

    def _adapter(self, X: list[Any], y: list[Any]) -> Adapter:
        if self.backend not in ("threads", "processes"):
            raise ValueError(f"backend is {self.backend!r}; known are 'threads' and 'processes'")
        others = (threads(self.n_jobs) or os.cpu_count() or 1) - 1
        return Adapter(self.structure, X, y, others if self.backend == "processes" else 0)

    def _split(self, X: list[Any], y: list[Any], sample_weight: Any, validation: Any) -> Any:
        """Examples to train on, their weights, and data to validate on."""
        if len(X) != len(y):
            raise ValueError(f"X has {len(X)} examples and y has {len(y)}")
        if not X:
            raise ValueError("there are no examples")
        weights, _ = total(sample_weight, len(X))
        if weights is None:
            weights = np.ones(len(X))
        wrong = np.flatnonzero(~((weights > 0) & np.isfinite(weights)))
        if len(wrong):
            raise ValueError(
                f"the weight of example {wrong[0]} is {weights[wrong[0]]}; a positive finite number is "
                "needed"
            )
        held_out = self._held_out(validation is not None)
        if held_out is None:
            return X, y, weights, validation
        return hold_out(X, y, weights, *held_out)

    def _bound_arrays(self, dim: int) -> tuple[list[float], list[float]] | None:
        return bound_arrays(self.bounds, dim)

    def _choose_lam(self, X: Any, y: Any, weights: np.ndarray, own: Any, settings: Any) -> Any:
        """λ by the mean loss on data of their own, or on a tenth of the examples, and what was tried."""
        examples = len(X)
        if own is None:
            X, y, weights, own = hold_out(X, y, weights, seed(self.random_state), 10)
        adapter = Adapter(self.structure, X, y)
        truths = adapter.truths()
        return native.choose_structure_lambda(
            adapter,
            truths,
            weights.tolist(),
            adapter.dim,
            as_json("settings", settings),
            examples,
            self._validator(*own),
            bounds=self._bound_arrays(adapter.dim),
            quality=getattr(self.structure, "quality", "exact"),
            rescaling=self.rescaling,
        )

    def _validator(self, X: Any, y: Any) -> Callable[[np.ndarray], float]:
        """The mean loss of weights on these data."""
        return lambda w: self._mean_loss(X, y, w)

    def _mean_loss(self, X: Any, y: Any, w: np.ndarray) -> float:
        found = decode_all(self.structure, list(X), None, w, False)
        losses = [
            self.structure.loss(truth, output) for truth, output in zip(y, found, strict=True)
        ]
        return float(np.mean(losses))

    def predict(self, X: Any) -> list[Any]:
        """The best output for each input."""
        check_is_fitted(self, "coef_")
        return decode_all(self.structure, list(X), None, self.coef_, False)

    def complete(self, X: Any, y: Any) -> list[Any]:
        """The best output for each input that agrees with what is known of it, as the structure's own
        method ``complete(x, y, w)`` says; for :class:`LatentSVM`."""
        check_is_fitted(self, "coef_")
        own = getattr(self.structure, "complete", None)
        if not callable(own):
            raise TypeError("the structure has no method complete(x, y, w)")
        return [own(x, known, self.coef_) for x, known in zip(X, y, strict=True)]

    def objective(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The objective λ/2 ‖w‖² + mean structured hinge loss of the weights on any labelled data."""
        check_is_fitted(self, "coef_")
        if self.rescaling != "margin":
            raise ValueError(
                "the objective of slack rescaling is known as far as certificate_ tells"
            )
        X, y, weights, _ = self._split(list(X), list(y), sample_weight, None)
        adapter, w = Adapter(self.structure, X, y), self.coef_
        hinges = []
        for i, (indices, values) in enumerate(adapter.truths()):
            best, score, loss = adapter.corner(i, w, True)
            hinges.append(max(0.0, loss + float(score @ w[best]) - float(values @ w[indices])))
        risk = float(np.average(hinges, weights=weights))
        return 0.5 * self.certificate_.lam * float(w @ w) + risk

    def decision_function(self, X: Any) -> np.ndarray:
        """The score ⟨w, features(x, ŷ)⟩ of the predicted output of each input."""
        X = list(X)
        found, w = self.predict(X), self.coef_

        def score(x: Any, y: Any) -> float:
            indices, values = as_sparse(self.structure.features(x, y))
            return float(w[indices] @ values)

        return np.array([score(x, y) for x, y in zip(X, found, strict=True)])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """1 − the mean loss."""
        found, y = self.predict(X), list(y)
        if len(found) != len(y):
            raise ValueError(f"X has {len(found)} examples and y has {len(y)}")
        losses = [
            float(self.structure.loss(truth, predicted))
            for truth, predicted in zip(y, found, strict=True)
        ]
        weights, _ = total(sample_weight, len(losses))
        return 1.0 - float(np.average(losses, weights=weights))

    def _weight_names(self) -> list[str]:
        return [f"w[{at}]" for at in range(len(self.coef_))]

    def save(self, path: Any, *, dual: bool = True) -> None:
        """Not possible: a file knows nothing of a structure of your own. Pickle the estimator."""
        raise NotImplementedError("model files know nothing of your structure; use pickle")

    def report(self, title: str | None = None) -> Report:
        """A self-contained HTML page about the training, which notebooks show where they are."""
        return super().report(title or f"{type(self).__name__} of {type(self.structure).__name__}")

    def _page(self, title: str) -> str:
        return native.structure_report(title, self._about, self._history_columns())

    def prune(self, X: Any, y: Any = None, **extra: Any) -> Any:
        """Not possible: nothing is known of the features of a structure of your own."""
        raise NotImplementedError("models of your own structures cannot be pruned")

    def verify(self, X: Any, y: Any = None, **extra: Any) -> list[str]:
        """Computes the certificate again, from the examples it was trained on.

        Returns
        -------
        list of str
            What speaks against it; empty if it holds. That the dual point is one of this problem
            cannot be checked for a structure of your own.
        """
        check_is_fitted(self, "dual_")
        X, y, weights, _ = self._split(list(X), list(y), extra.get("sample_weight"), None)
        if len(X) != len(self.dual_):
            return [f"it was trained on {len(self.dual_)} examples, not {len(X)}"]
        adapter = Adapter(self.structure, X, y)
        truths = adapter.truths()
        c = self.certificate_
        claim: dict[str, Any] = {"lambda": c.lam, "primal": c.primal, "dual": c.dual, "gap": c.gap}
        claim |= {"quality": c.quality, "missed": c.missed}
        findings, quality = native.verify_structure(
            adapter,
            truths,
            weights.tolist(),
            adapter.dim,
            self.coef_.tolist(),
            self.dual_,
            as_json("certificate", claim),
            as_json("settings", self.settings()),
            threads(self.n_jobs),
            bounds=self._bound_arrays(adapter.dim),
            quality=getattr(self.structure, "quality", "exact"),
            rescaling=self.rescaling,
        )
        return warn_if_unproven(findings, quality)


def hold_out(X: list[Any], y: list[Any], weights: np.ndarray, seed: int, one_in: int) -> Any:
    """Examples to train on, their weights, and one in so many, taken out to validate on."""
    out = np.zeros(len(X), dtype=bool)
    # NumPy takes seeds of 32 bits.
    order = np.random.RandomState(seed % 2**32).permutation(len(X))
    out[order[: -(-len(X) // one_in)]] = True
    if out.all():
        raise ValueError("validation needs at least two examples, or data of its own")

    def pick(items: list[Any], on: np.ndarray) -> list[Any]:
        return [item for item, keep in zip(items, on, strict=True) if keep]

    return pick(X, ~out), pick(y, ~out), weights[~out], (pick(X, out), pick(y, out))

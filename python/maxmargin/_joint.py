"""Outputs that a kernel compares as wholes, together with their inputs."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Protocol

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _maxmargin as native
from ._base import BaseSVM, leave_time, total
from ._joint_file import DUAL, NotPlain, original, plain, read, write
from ._runs import Report
from ._settings import as_json, is_auto, threads
from ._trained import warn_if_unproven
from ._types import Cache, Callback, Direction, Lam, OnInterrupt, Order, Solver

#: How far from symmetric and from positive semi-definite kernel values may be, relative to the largest.
ROUNDING = 1e-9


class JointKernel(Protocol):
    """What a joint kernel has to know."""

    def outputs(self, x: Any) -> Any:
        """All outputs that x can have: the candidates of another model, the parses of a grammar."""

    def loss(self, y: Any, y_hat: Any) -> float:
        """What it costs to predict ŷ for y; 0 for y itself."""

    def kernel(self, x: Any, y: Any, x2: Any, y2: Any) -> float:
        """How alike two pairs of an input and an output are: k((x, y), (x′, y′)), symmetric and positive
        semi-definite."""

    # It may have one more method, which computes many values at once:
    #
    #     def kernel_table(self, pairs, others): ...
    #
    # It returns an array of the values of all (x, y) of the one list with all of the other.


class JointKernelSVM(BaseSVM):
    """Learns to choose among the outputs of each input, compared by a kernel of pairs of inputs and outputs.

    Features are never computed, so outputs may be compared in any way for which a kernel is known: by the
    subtrees, the substrings or the walks that they share. The kernel values of all outputs of all
    examples with each other are kept in memory while it trains.

    Parameters
    ----------
    structure : object
        Has the methods ``outputs(x)``, ``loss(y, y_hat)`` and ``kernel(x, y, x2, y2)``, see the example. If
        it has the method ``kernel_table(pairs, others)``, that is called instead of ``kernel``, with two
        lists of pairs (x, y), and returns an array of all values. A true output that is not among the
        outputs of its input is added to them.
    lam, C, tol, max_passes, solver, order, direction, cache, max_seconds, n_jobs, random_state, warm_start, \
verbose, callback, on_interrupt, options
        As in :class:`ChainSVM`, but for ``lam="auto"``.

    Attributes
    ----------
    coef_ : ndarray
        The coefficient of each output of each example, in order.
    support_ : list of tuple
        The pairs that have a coefficient: index of the example, x, y, and the coefficient.
    certificate_, history_, status_, n_iter_
        As in :class:`ChainSVM`. All outputs are tried, so the certificate is exact.

    Examples
    --------
    >>> from maxmargin import JointKernelSVM
    >>> class Spelling:
    ...     '''Which of a few words was meant? Pairs are alike if their words are as near to what was written.'''
    ...     words = ["horse", "house", "mouse", "moose", "those"]
    ...     def outputs(self, x):
    ...         return self.words
    ...     def loss(self, y, y_hat):
    ...         return float(y != y_hat)
    ...     def kernel(self, x, y, x2, y2):
    ...         return 1.0 + self.alike(x, y) * self.alike(x2, y2)
    ...     def alike(self, a, b):
    ...         return sum(c == d for c, d in zip(a, b))
    >>> model = JointKernelSVM(Spelling(), lam=0.1).fit(["hous", "horze"], ["house", "horse"])
    >>> model.predict(["mouze"])
    ['mouse']
    >>> model.certificate_.quality
    'exact'
    """

    def __init__(
        self,
        structure: JointKernel | None = None,
        lam: Lam = "scale",
        *,
        C: float | None = None,
        tol: float | str = "1%",
        max_passes: int = 1000,
        solver: Solver = "auto",
        order: Order | None = None,
        direction: Direction | None = None,
        cache: Cache | None = None,
        max_seconds: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        callback: Callback | None = None,
        on_interrupt: OnInterrupt = "raise",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._keep(locals())

    #: Its training takes no data aside.
    patience = None
    validation = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> JointKernelSVM:
        """Trains on inputs and their true outputs, of whatever type the structure knows.

        Parameters
        ----------
        X, y : sequences
            Inputs and outputs.
        sample_weight : array-like, optional
            A positive weight for each example.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the kernel is not symmetric and positive semi-definite on the outputs, without which no
            certificate means anything.
        """
        begun = time.monotonic()
        if is_auto(self.lam):
            raise ValueError('lam="auto" does not go with a joint kernel; give a number or "scale"')
        pairs, listed = self._listed(list(X), list(y), sample_weight)
        table = self._table(pairs, pairs)
        check_kernel(table)
        progress = self._progress()
        settings = self.settings(float(sum(listed[3])))
        leave_time(settings, begun)
        start = getattr(self, "dual_", None) if self.warm_start else None
        try:
            w, dual, columns, about = native.fit_joint_kernel(
                table,
                listed,
                as_json("settings", settings),
                start=start,
                callback=progress if progress.wanted else None,
                rule="given" if "lambda" in settings else "scale",
            )
        finally:
            progress.close()
        self._coef = w
        self.dual_: native.Dual | None = dual
        self._about = about
        examples = np.repeat(np.arange(len(listed[0])), listed[0])
        self.support_: list[tuple[int, Any, Any, float]] = [
            (int(examples[at]), *pairs[at], float(w[at])) for at in np.flatnonzero(w)
        ]
        self._keep_curve(None)
        self._note(json.loads(about), columns)
        self._conclude()
        return self

    def _listed(self, X: list[Any], y: list[Any], sample_weight: Any) -> Any:
        """All pairs of inputs and outputs, and what the native half has to know of them."""
        for method in ("outputs", "loss", "kernel"):
            if not callable(getattr(self.structure, method, None)):
                raise TypeError(f"the structure has no method {method}; see JointKernelSVM")
        assert self.structure is not None
        if len(X) != len(y):
            raise ValueError(f"X has {len(X)} examples and y has {len(y)}")
        if not X:
            raise ValueError("there are no examples")
        weights, _ = total(sample_weight, len(X))
        pairs: list[tuple[Any, Any]] = []
        counts, truths, losses = [], [], []
        for i, (x, own) in enumerate(zip(X, y, strict=True)):
            outputs = list(self.structure.outputs(x))
            at = next((at for at, output in enumerate(outputs) if is_same(output, own)), None)
            if at is None:
                at = len(outputs)
                outputs.append(own)
            counts.append(len(outputs))
            truths.append(at)
            pairs.extend((x, output) for output in outputs)
            for output in outputs:
                loss = float(self.structure.loss(own, output))
                if not (loss >= 0.0 and np.isfinite(loss)):
                    raise ValueError(
                        f"the loss of an output of example {i} is {loss}; it must be ≥ 0"
                    )
                losses.append(loss)
            if losses[len(losses) - len(outputs) + at] != 0.0:
                raise ValueError(f"the true output of example {i} has a loss; it must be 0")
        ones = [1.0] * len(X) if weights is None else weights.tolist()
        return pairs, (counts, truths, losses, ones)

    def _table(self, pairs: list[Any], others: list[Any]) -> np.ndarray:
        """The kernel values of all pairs with all others."""
        assert self.structure is not None
        own = getattr(self.structure, "kernel_table", None)
        if callable(own):
            table = np.ascontiguousarray(own(pairs, others), dtype=np.float64)
            if table.shape != (len(pairs), len(others)):
                shape = (len(pairs), len(others))
                raise ValueError(f"kernel_table has returned the shape {table.shape}, not {shape}")
            return table
        values = [[self.structure.kernel(*pair, *other) for other in others] for pair in pairs]
        return np.array(values, dtype=np.float64).reshape(len(pairs), len(others))

    def _scores(self, x: Any) -> tuple[list[Any], np.ndarray]:
        """All outputs of an input, and their scores."""
        check_is_fitted(self, "support_")
        assert self.structure is not None
        outputs = list(self.structure.outputs(x))
        if not outputs:
            raise ValueError("an input has no outputs to choose from")
        others = [(x2, y2) for _, x2, y2, _ in self.support_]
        weights = np.array([weight for *_, weight in self.support_])
        return outputs, self._table([(x, output) for output in outputs], others) @ weights

    def predict(self, X: Any) -> list[Any]:
        """The best output of each input."""
        check_is_fitted(self, "support_")
        found = [self._scores(x) for x in X]
        return [outputs[int(np.argmax(scores))] for outputs, scores in found]

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of the predicted output of each input."""
        check_is_fitted(self, "support_")
        return np.array([float(self._scores(x)[1].max()) for x in X])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """1 − the mean loss."""
        assert self.structure is not None
        found, y = self.predict(X), list(y)
        if len(found) != len(y):
            raise ValueError(f"X has {len(found)} examples and y has {len(y)}")
        losses = [
            float(self.structure.loss(own, output)) for own, output in zip(y, found, strict=True)
        ]
        weights, _ = total(sample_weight, len(losses))
        return 1.0 - float(np.average(losses, weights=weights))

    def verify(self, X: Any, y: Any = None, **extra: Any) -> list[str]:
        """Computes the certificate again, from the examples it was trained on.

        Returns
        -------
        list of str
            What speaks against it; empty if it holds.
        """
        check_is_fitted(self, "dual_")
        if self.dual_ is None:
            raise ValueError("the file that the model was loaded from has no dual point to check")
        pairs, listed = self._listed(list(X), list(y), extra.get("sample_weight"))
        if len(listed[0]) != len(self.dual_):
            return [f"it was trained on {len(self.dual_)} examples, not {len(listed[0])}"]
        if len(pairs) != len(self.coef_):
            return [f"it was trained on {len(self.coef_)} outputs, not {len(pairs)}"]
        table, c = self._table(pairs, pairs), self.certificate_
        check_kernel(table)
        claim = {
            "lambda": c.lam,
            "primal": c.primal,
            "dual": c.dual,
            "gap": c.gap,
            "quality": c.quality,
        }
        findings, quality = native.verify_joint_kernel(
            table,
            listed,
            self.coef_.tolist(),
            self.dual_,
            as_json("certificate", claim),
            as_json("settings", self.settings()),
            threads(self.n_jobs),
        )
        return warn_if_unproven(findings, quality)

    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, classes: Any = None, **extra: Any
    ) -> JointKernelSVM:
        """Not possible: new examples have kernel values with all earlier ones."""
        raise NotImplementedError(
            "JointKernelSVM has no partial_fit: new examples have kernel values with all earlier ones; call fit "
            "with all of them"
        )

    def _weight_names(self) -> list[str]:
        return [f"output[{at}]" for at in range(len(self.coef_))]

    def save(self, path: Any, *, dual: bool = True) -> None:
        """Writes the model to a file, which :meth:`load` reads again. The command line has no use for it.

        The structure is code of your own and is not in the file. Inputs and outputs with a coefficient are, if they are
        made of numbers, texts, lists, tuples, dictionaries and arrays. Others come from the training examples again,
        which ``load`` then needs.

        Parameters
        ----------
        path : path-like
            The file; it is written under a temporary name and renamed.
        dual : bool, default=True
            Whether the dual point is kept, without which the proof cannot be checked again.
        """
        check_is_fitted(self, "support_")
        pairs: list[Any] | None
        try:
            pairs = [[i, plain(x), plain(y)] for i, x, y, _ in self.support_]
        except NotPlain:
            pairs = None
        parameters = {}
        for name, value in self.get_params(deep=False).items():
            if name not in ("structure", "callback"):
                with suppress(NotPlain):
                    parameters[name] = plain(value)
        parts: dict[str, Any] = {
            "about": json.loads(self._about),
            "parameters": parameters,
            "pairs": pairs,
            "coefficients": self.coef_,
            "support": np.flatnonzero(self.coef_),
        }
        if dual and self.dual_ is not None:
            parts |= dict(zip(DUAL, self.dual_.arrays(), strict=True))
        columns = self._history_columns()
        parts |= {f"history.{name}": values for name, values in columns.items()}
        write(path, parts)

    @classmethod
    def load(
        cls,
        path: Any,
        structure: JointKernel | None = None,
        X: Any = None,
        y: Any = None,
    ) -> JointKernelSVM:
        """Reads a model that :meth:`save` has written.

        Parameters
        ----------
        path : path-like
            The file.
        structure : object
            The structure that the model was trained with.
        X, y : sequences, optional
            The training examples, if the file has no inputs and outputs because their types are your own.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from maxmargin import JointKernelSVM
        >>> class Sign:
        ...     def outputs(self, x):
        ...         return [-1, 1]
        ...     def loss(self, y, y_hat):
        ...         return float(y != y_hat)
        ...     def kernel(self, x, y, x2, y2):
        ...         return y * y2 * x * x2
        >>> model = JointKernelSVM(Sign(), lam=0.1).fit([2.0, -1.0], [1, -1])
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "sign.npz"
        >>> model.save(file)
        >>> again = JointKernelSVM.load(file, Sign())
        >>> again.predict([0.5]), again.verify([2.0, -1.0], [1, -1])
        ([1], [])
        """
        if structure is None:
            raise ValueError("load needs the structure, which is code of your own and not in files")
        parts = read(path)
        try:
            given = {name: original(value) for name, value in parts["parameters"].items()}
            model = cls(structure, **given)
            model._restore_parts(parts, X, y)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path}: {error}") from None
        return model

    def _restore_parts(self, parts: dict[str, Any], X: Any, y: Any) -> None:
        """Takes over what a file has."""
        w, support = parts["coefficients"], parts["support"].tolist()
        self._coef = w
        if parts["pairs"] is not None:
            found = [(int(i), original(x), original(y)) for i, x, y in parts["pairs"]]
        elif X is None or y is None:
            raise ValueError(
                "it has no inputs and outputs, since their types are your own; give load the training examples X "
                "and y too"
            )
        else:
            pairs, listed = self._listed(list(X), list(y), None)
            if len(pairs) != len(w):
                raise ValueError(f"it was trained on {len(w)} outputs, not {len(pairs)}")
            examples = np.repeat(np.arange(len(listed[0])), listed[0])
            found = [(int(examples[at]), *pairs[at]) for at in support]
        if len(found) != len(support):
            raise ValueError(f"it has {len(found)} pairs and {len(support)} coefficients")
        self.support_ = [(*own, float(w[at])) for own, at in zip(found, support, strict=True)]
        about = parts["about"]
        self.dual_ = None
        if "dual" in parts:
            ends, ids, masses, losses = parts["dual"]
            lam, places = about["certificate"]["lambda"], ids.astype(np.uint64)
            self.dual_ = native.Dual(lam, ends.astype(np.uint64), places, masses, losses)
        self._about = json.dumps(about)
        self._keep_curve(None)
        self._note(about, parts["history"])

    def prune(self, X: Any, y: Any = None, **extra: Any) -> Any:
        """Not possible: coefficients of outputs are no features."""
        raise NotImplementedError("models of joint kernels cannot be pruned")

    def report(self, title: str | None = None) -> Report:
        """A self-contained HTML page about the training, which notebooks show where they are."""
        return super().report(title or f"{type(self).__name__} of {type(self.structure).__name__}")

    def _page(self, title: str) -> str:
        return native.structure_report(title, self._about, self._history_columns())


def is_same(a: Any, b: Any) -> bool:
    """Whether two outputs are the same, whatever they are."""
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return bool(np.array_equal(a, b))
    return bool(a == b)


def check_kernel(table: np.ndarray) -> None:
    """Refuses kernel values that are not symmetric and positive semi-definite."""
    wrong = np.argwhere(~np.isfinite(table))
    if len(wrong):
        a, b = wrong[0]
        raise ValueError(f"the kernel of outputs {a} and {b} is {table[a, b]}; it must be finite")
    size = float(np.abs(table).max(initial=0.0))
    if float(np.abs(table - table.T).max(initial=0.0)) > ROUNDING * size:
        raise ValueError("the kernel is not symmetric: k(a, b) differs from k(b, a)")
    room = ROUNDING * max(size, 1e-300) * len(table)
    try:
        np.linalg.cholesky(table + room * np.eye(len(table)))
    except np.linalg.LinAlgError as error:
        raise ValueError(
            "the kernel is not positive semi-definite on the outputs of these examples, so it is no kernel"
        ) from error

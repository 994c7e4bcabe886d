"""Training with the methods of ``pycrfsuite.Trainer``."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..._base import ConvergenceWarning
from ..._chain import ChainSVM
from ._items import labels_of, tokens_of
from ._parameters import ALGORITHMS, Parameter, algorithm_of, passes, strength, warn_of


@dataclass(frozen=True)
class TrainingLog:
    """The passes of a training: a dictionary each, with ``num``, ``time``, ``loss`` (the objective, NaN
    where it was not computed) and ``gap``; with data held out also ``item_accuracy_float``."""

    iterations: list[dict[str, float]]

    @classmethod
    def of(cls, history: np.ndarray) -> TrainingLog:
        """The log of a history."""
        times = np.diff(history["seconds"], prepend=0.0)
        pairs = zip(history, times, strict=True)
        return cls([iteration(row, float(time)) for row, time in pairs])

    @property
    def last_iteration(self) -> dict[str, float] | None:
        """The last pass; none if the model was read from a file."""
        return self.iterations[-1] if self.iterations else None


def iteration(row: Any, time: float) -> dict[str, float]:
    """What is known of a pass, under CRFsuite's names."""
    info = {
        "num": int(row["passes"]),
        "time": time,
        "loss": float(row["primal"]),
        "gap": float(row["gap"]),
    }
    error = float(row["validation"])
    return info if np.isnan(error) else info | {"item_accuracy_float": 1.0 - error}


class Chain(ChainSVM):
    """An estimator of sequences that is content with one label, as CRFsuite is."""

    _fewest_labels: ClassVar[int] = 1


class Trainer:
    """Collects labelled sequences and trains a structured SVM on them.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}, optional
        Says which parameters there are and which defaults they have. All are trained in the same way.
    params : dict, optional
        Parameters by name: ``c1``, ``c2`` and ``max_iterations`` matter; for others a warning is given once.
    verbose : bool, default=True
        Whether to print a line for each pass.

    Attributes
    ----------
    logparser : TrainingLog
        The passes of the last training.
    """

    def __init__(
        self,
        algorithm: str | None = None,
        params: Mapping[str, Any] | None = None,
        verbose: bool = True,
    ) -> None:
        self.verbose = verbose
        if algorithm is not None:
            self.select(algorithm)
        if params is not None:
            self.set_params(params)

    # Subclasses may forget to call __init__, as they may in pycrfsuite.
    _algorithm: str = "lbfgs"
    verbose: bool = True
    logparser: TrainingLog | None = None

    @property
    def _given(self) -> dict[str, Any]:
        return self.__dict__.setdefault("_given_params", {})

    @property
    def _data(self) -> list[tuple[list[Any], list[Any], int]]:
        return self.__dict__.setdefault("_sequences", [])

    def append(self, xseq: Any, yseq: Any, group: int = 0) -> None:
        """Adds a labelled sequence; ``group`` is for ``holdout`` of :meth:`train`."""
        tokens, labels = tokens_of(xseq), labels_of(yseq)
        if len(tokens) != len(labels):
            raise ValueError(
                f"The numbers of items and labels differ: |x| = {len(tokens)}, |y| = {len(labels)}"
            )
        self._data.append((tokens, labels, group))

    def clear(self) -> None:
        """Forgets all sequences."""
        self._data.clear()

    def select(self, algorithm: str, type: str = "crf1d") -> None:
        """Chooses an algorithm, whose parameters then have their defaults."""
        self._algorithm = algorithm_of(algorithm, type)
        self._given.clear()

    def params(self) -> list[str]:
        """The names of the parameters."""
        return list(ALGORITHMS[self._algorithm])

    def _parameter(self, name: str) -> Parameter:
        if name not in ALGORITHMS[self._algorithm]:
            raise ValueError(f"Parameter not found: {name}")
        return ALGORITHMS[self._algorithm][name]

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Sets parameters."""
        for name, value in params.items():
            self.set(name, value)

    def get_params(self) -> dict[str, Any]:
        """All parameters with their values."""
        return {name: self.get(name) for name in self.params()}

    def set(self, name: str, value: Any) -> None:
        """Sets a parameter."""
        kind = self._parameter(name).kind
        try:
            self._given[name] = kind(value)
        except (TypeError, ValueError):
            raise ValueError(f"the parameter {name} cannot be {value!r}") from None

    def get(self, name: str) -> Any:
        """The value of a parameter."""
        return self._given.get(name, self._parameter(name).default)

    def help(self, name: str) -> str:
        """What a parameter is for."""
        return self._parameter(name).help

    def train(self, model: str | os.PathLike[str], holdout: int = -1) -> None:
        """Trains, and writes the model to a file, unless its name is empty.

        Parameters
        ----------
        model : path-like
            The file. It has no dual point; ``ChainSVM.save`` writes one that can be verified.
        holdout : int, default=-1
            The group of sequences that are not trained on, and that the error is measured on.
        """
        if not any(tokens for tokens, _, group in self._data if group != holdout):
            self.message("there are no items to learn from\n")
            return
        estimator = self._fit(holdout, {})
        if os.fspath(model):
            estimator.save(model, dual=False)

    def _fit(self, holdout: int, options: dict[str, Any]) -> ChainSVM:
        """The estimator that the sequences make, with settings beside those of CRFsuite."""
        warn_of({name: value for name, value in self._given.items() if self._is_other(name, value)})
        # Sequences without items teach nothing.
        train = [own for own in self._data if own[2] != holdout and own[0]]
        held_out = [own for own in self._data if own[2] == holdout and own[0]]
        n = len(train)
        settings: dict[str, Any] = {
            "lam": strength(self._algorithm, self._given, n),
            "max_passes": passes(self._algorithm, self._given, n),
            "options": {"average": "weighted"},
            # c1 and c2 hold back weights in the units of the data.
            "standardise": False,
        }
        settings.update({name: value for name, value in options.items() if value is not None})
        estimator = Chain(callback=self._on_row, **settings)
        self.message(f"training on {n} sequences\n")
        self._last_seconds = 0.0
        with warnings.catch_warnings():
            # The number of passes is no accident.
            warnings.simplefilter("ignore", ConvergenceWarning)
            estimator.fit(
                *_pair(train),
                validation=_pair(held_out) if held_out else None,
            )
        estimator.callback = None
        self.logparser = TrainingLog.of(estimator.history_)
        self.on_optimization_end(f"{estimator.status_}: {estimator.certificate_!r}\n")
        return estimator

    def _is_other(self, name: str, value: Any) -> bool:
        """Whether a value is not the default."""
        return bool(value != self._parameter(name).default)

    def _on_row(self, row: dict[str, float]) -> None:
        info = iteration(row, row["seconds"] - self._last_seconds)
        self._last_seconds = row["seconds"]
        parts = [f"{name}={value:.6g}" for name, value in info.items() if not np.isnan(value)]
        self.on_iteration("  ".join(parts) + "\n", info)

    def message(self, message: str) -> None:
        """Is told what goes on, and prints it if ``verbose``."""
        if self.verbose:
            print(message, end="")

    def on_iteration(self, log: str, info: dict[str, float]) -> None:
        """Is told of every pass."""
        self.message(log)

    def on_optimization_end(self, log: str) -> None:
        """Is told of the end."""
        self.message(log)


class LinePerIterationTrainer(Trainer):
    """A trainer that prints a line for each pass, as sklearn-crfsuite does."""

    def on_iteration(self, log: str, info: dict[str, float]) -> None:
        """Prints number, time, objective and gap."""
        line = f"Iter {info['num']:<3} time={info['time']:<5.2f}"
        if not np.isnan(info["loss"]):
            line += f" loss={info['loss']:<8.4f} gap={info['gap']:<8.4f}"
        if "item_accuracy_float" in info:
            line += f" Acc(item)={info['item_accuracy_float']:.3f}"
        self.message(line.rstrip() + "\n")


def _pair(data: list[tuple[list[Any], list[Any], int]]) -> tuple[list[Any], list[Any]]:
    return [tokens for tokens, _, _ in data], [labels for _, labels, _ in data]

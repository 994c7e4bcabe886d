"""Trained models with the methods of ``pycrfsuite.Tagger``."""

from __future__ import annotations

import contextlib
import math
import os
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _maxmargin as native
from ..._chain import ChainSVM
from ..._load import load
from ._items import labels_of, tokens_of


@dataclass(frozen=True)
class ParsedDump:
    """What is in a model: its ``header``, the numbers of ``labels`` and ``attributes``, and the weights of
    ``transitions`` by pairs of labels and of ``state_features`` by attribute and label."""

    header: dict[str, str]
    labels: dict[str, str]
    attributes: dict[str, str]
    transitions: dict[tuple[str, str], float]
    state_features: dict[tuple[str, str], float]

    @classmethod
    def of(cls, model: ChainSVM) -> ParsedDump:
        """What is in a fitted estimator."""
        labels, names = model._labels.names(), model.attribute_names_
        states = state_features(model)
        header = {
            "size": str(file_size(model)),
            "type": "maxmargin",
            "num_features": str(len(states)),
            "num_labels": str(len(labels)),
            "num_attrs": str(len(names)),
        }
        return cls(
            header=header,
            labels={name: str(at) for at, name in enumerate(labels)},
            attributes={name: str(at) for at, name in enumerate(names)},
            transitions=transition_features(model),
            state_features=states,
        )


def state_features(model: ChainSVM) -> dict[tuple[str, str], float]:
    """Weights by attribute and label; those that are 0 are left out."""
    emission = model.weights_["emission"]
    names, labels = model.attribute_names_, model._labels.names()
    return {
        (names[a], labels[k]): float(emission[a, k])
        for a, k in zip(*emission.nonzero(), strict=True)
    }


def transition_features(model: ChainSVM) -> dict[tuple[str, str], float]:
    """Weights of one label after another."""
    matrix, labels = model.weights_["transition"], model._labels.names()
    pairs = [(a, b) for a in range(len(labels)) for b in range(len(labels))]
    return {(labels[a], labels[b]): float(matrix[a, b]) for a, b in pairs}


def file_size(model: ChainSVM) -> int:
    """How many bytes a file with the model has, without the dual point."""
    return len(model._model.to_bytes(False))


def chain_of(model: Any, name: str) -> ChainSVM:
    """The estimator of sequences that a file holds."""
    if not isinstance(model, ChainSVM):
        raise ValueError(f"{name} holds a {type(model).__name__}, not a ChainSVM")
    return model


class Tagger:
    """Labels sequences by a model that :class:`Trainer` has written, or any model of sequences.

    Probabilities are the softmax of scores: a structured SVM is not trained to be calibrated, so they rank labels
    and labellings, and do not say how often these are right.

    Examples
    --------
    >>> import os, tempfile
    >>> from maxmargin.compat.pycrfsuite import Tagger, Trainer
    >>> trainer = Trainer("lbfgs", params={"c2": 0.1}, verbose=False)
    >>> trainer.append([{"word": "the"}, {"word": "cat"}], ["DET", "N"])
    >>> file = os.path.join(tempfile.mkdtemp(), "model")
    >>> trainer.train(file)
    >>> with Tagger().open(file) as tagger:
    ...     tagger.tag([{"word": "the"}, {"word": "cat"}]), tagger.marginal("N", 1) > 0.5
    (['DET', 'N'], True)
    """

    def __init__(self) -> None:
        self._model: ChainSVM | None = None
        self._sequence: list[Any] | None = None
        self._known: tuple[float, np.ndarray] | None = None

    @classmethod
    def _of(cls, model: ChainSVM) -> Tagger:
        tagger = cls()
        tagger._model = model
        return tagger

    def open(self, name: str | os.PathLike[str]) -> contextlib.closing[Tagger]:
        """Opens a file; ``with`` closes it again."""
        self._take(chain_of(load(name), os.fspath(name)))
        return contextlib.closing(self)

    def open_inmemory(self, value: bytes) -> contextlib.closing[Tagger]:
        """Opens the content of a file."""
        from ..._load import estimator_of

        self._take(chain_of(estimator_of(native.Model.from_bytes(value)), "the model"))
        return contextlib.closing(self)

    def _take(self, model: ChainSVM) -> None:
        self.close()
        self._model = model

    def close(self) -> None:
        """Forgets the model."""
        self._model = self._sequence = self._known = None

    def _opened(self, error: type[Exception] = ValueError) -> ChainSVM:
        if self._model is None:
            raise error("The tagger is not opened")
        return self._model

    def labels(self) -> list[str]:
        """The labels that there are."""
        return self._opened()._labels.names()

    def set(self, xseq: Any) -> None:
        """Keeps a sequence for the other methods."""
        self._opened()
        self._sequence, self._known = tokens_of(xseq), None

    def _current(self) -> list[Any]:
        if self._sequence is None:
            raise ValueError("there is no sequence; give one, or set it before")
        return self._sequence

    def tag(self, xseq: Any = None) -> list[Any]:
        """The labels of a sequence, or of the one that was set."""
        if xseq is not None:
            self.set(xseq)
        return self._opened().predict([self._current()])[0].tolist()

    def _marginals(self) -> tuple[float, np.ndarray]:
        if self._known is None:
            self._known = self._opened()._log_sums_and_marginals([self._current()])[0]
        return self._known

    def _number(self, label: Any) -> int:
        found = self._opened()._labels.index.get(labels_of([label])[0])
        if found is None:
            raise RuntimeError(f"Failed to convert into label identifier: {label}")
        return found

    def marginal(self, y: Any, pos: int) -> float:
        """The probability of a label at a place of the sequence that was set, by the softmax of scores."""
        _, table = self._marginals()
        if not 0 <= pos < len(table):
            raise ValueError(f"The position, {pos}, is out of range of {len(table)}")
        return float(table[pos, self._number(y)])

    def probability(self, yseq: Any) -> float:
        """The probability of all labels of the sequence that was set, by the softmax of scores."""
        model, labels = self._opened(), labels_of(yseq)
        items = self._current()
        if len(labels) != len(items):
            raise ValueError(
                f"The numbers of items and labels differ: |x| = {len(items)}, |y| = {len(labels)}"
            )
        for label in labels:
            self._number(label)
        if not items:
            return 1.0
        ((_, score),) = model.predict_nbest([items], 1, fixed=[labels], open_label=object())[0]
        return math.exp(score - self._marginals()[0])

    def info(self) -> ParsedDump:
        """Labels and attributes with their numbers, and the weights."""
        return ParsedDump.of(self._opened(RuntimeError))

    def dump(self, filename: str | os.PathLike[str] | None = None) -> None:
        """Writes what :meth:`info` knows as text, to a file or to standard output."""
        text = dump_text(self.info())
        if filename is None:
            sys.stdout.write(text)
            return
        with open(filename, "w", encoding="utf-8") as file:
            file.write(text)


def dump_text(info: ParsedDump) -> str:
    """What is in a model, in the layout of ``crfsuite dump``."""

    def pairs(kind: int, weights: dict[tuple[str, str], float]) -> list[str]:
        return [f"({kind}) {a} --> {b}: {weight:.6f}" for (a, b), weight in weights.items()]

    parts = {
        "FILEHEADER": [f"{name}: {value}" for name, value in info.header.items()],
        "LABELS": [f"{number}: {name}" for name, number in info.labels.items()],
        "ATTRIBUTES": [f"{number}: {name}" for name, number in info.attributes.items()],
        "TRANSITIONS": pairs(1, info.transitions),
        "STATE_FEATURES": pairs(0, info.state_features),
    }
    blocks = [
        "\n".join([f"{name} = {{", *(f"  {row}" for row in rows), "}"])
        for name, rows in parts.items()
    ]
    return "\n\n".join(blocks) + "\n"

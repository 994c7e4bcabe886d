"""Sequences whose attributes the library makes itself: of files, or of columns of text by a template."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from . import _maxmargin as native
from ._base import Prepared, total
from ._inputs import len_of, sequence_list, split_labels
from ._kernels import kernel_part
from ._labels import Labels, as_classes, loaded_classes
from ._settings import group_bounds
from .io import SequenceFile, without_collection

#: The templates that are built in, and how many columns they need besides the label.
BUILT_IN = {"words": 1, "words+pos": 2, "chunking": 2}


def is_columns(template: Any, X: Any) -> bool:
    """Whether tokens are columns for a template, rather than attributes."""
    if template is None or isinstance(X, SequenceFile) or not isinstance(X, (list, tuple)):
        return False
    first = next((item for item in X if isinstance(item, (list, tuple)) and item), None)
    return first is None or not isinstance(first[0], Mapping)


def column_text(X: list[Any], labels: Sequence[Sequence[str]] | None = None) -> str:
    """Tokens as lines of columns, with their labels behind them, and a blank line after each
    sequence.

    >>> column_text([[("the", "DT"), ("cat", "NN")]], [["B", "I"]])
    'the DT B\\ncat NN I\\n\\n'
    """
    width = columns_of(X) + (labels is not None)
    parts = []
    for at, tokens in enumerate(X):
        rows: Any = [(token,) if isinstance(token, str) else token for token in tokens]
        if labels is not None:
            if len(labels[at]) != len(rows):
                found = f"{len(rows)} tokens and {len(labels[at])} labels"
                raise ValueError(f"sequence {at}: it has {found}")
            rows = [(*row, label) for row, label in zip(rows, labels[at], strict=True)]
        # All at once, since there are many; which token is to blame is found out if need be.
        try:
            text = "\n".join(map(" ".join, rows))
            is_good = text.split() == list(chain.from_iterable(rows))
        except TypeError:
            is_good = False
        if not is_good or set(map(len, rows)) != {width}:
            raise wrong_columns(at, rows, width)
        parts.append(text)
    return "\n\n".join(parts) + "\n\n"


def wrong_columns(at: int, rows: list[Any], width: int) -> Exception:
    """What is wrong with the columns of a sequence."""
    if not rows:
        return ValueError(f"sequence {at}: a sequence needs at least one token")
    for t, row in enumerate(rows):
        cells = list(row)
        where = f"sequence {at}: token {t}"
        if not all(isinstance(cell, str) for cell in cells):
            return TypeError(f"{where} is {tuple(cells)!r}; texts are needed")
        if len(cells) != width:
            return ValueError(f"{where} has {len(cells)} columns, others have {width}")
        if " ".join(cells).split() != cells:
            return ValueError(
                f"{where} is {tuple(cells)!r}; columns must have letters in them, and no blanks"
            )
    return ValueError(f"sequence {at}: its columns cannot be read")


def columns_of(X: list[Any]) -> int:
    """How many columns tokens have."""
    token: Any = next((token for tokens in X for token in tokens), ())
    return 1 if isinstance(token, str) else len(token)


class FromColumns:
    """For estimators of sequences, which may be in a file or have a template."""

    template: Any
    bounds: Any
    _model: native.Model
    _labels: Labels
    _read_template: str | None

    def _check_template(self) -> None:
        if self.template is not None and not isinstance(self.template, str):
            raise ValueError(
                f"template is {self.template!r}; it must be {', '.join(map(repr, BUILT_IN))}, or a "
                "text of lines in CRF++'s syntax"
            )

    def _width(self, X: list[Any]) -> int:
        """How many columns tokens have, where the template can do with so many."""
        found = columns_of(X)
        if self.template == "chunking" and found != 2:
            raise ValueError(
                f"template='chunking' needs two columns, word and part of speech; tokens have {found}"
            )
        if found < BUILT_IN.get(self.template, 0):
            raise ValueError(
                f"template={self.template!r} needs {BUILT_IN[self.template]} columns; tokens have "
                f"{found}"
            )
        return found

    def _has_transitions(self) -> bool:
        """Whether the template asks for weights of pairs of labels, if it is one that would say so."""
        if self.template is None or self.template in BUILT_IN:
            return True
        return any(line.startswith("B") for line in self.template.splitlines())

    def _kept_template(self) -> str | None:
        """The built-in template that the data of this fit were read with, or that the model keeps."""
        if "_read_template" in self.__dict__:
            return self._read_template
        kept = json.loads(self._model.meta()).get("template")
        return json.dumps(kept) if kept and kept.get("built_in") else None

    def _input(
        self,
        source: Any,
        format: str | None,
        text: str | None = None,
        columns: int | None = None,
        kept: str | None = None,
    ) -> dict[str, Any]:
        """What the native half reads; ``columns`` is how many training data have, with the label, and
        ``kept`` is the template of a fitted model."""
        return {
            "source": os.fspath(source),
            "format": format,
            "template": None if self.template is None else (self.template, columns),
            "kept": kept,
            "refuse_columns": False,
            "text": text,
            "weights": None,
        }

    def _prepare_file(self, file: SequenceFile, y: Any, sample_weight: Any) -> Prepared:
        if y is not None or sample_weight is not None:
            raise ValueError("labels and weights of a SequenceFile are in the file")
        return self._prepare_input(self._input(file.path, file.format))

    def _prepare_columns(self, X: Any, y: Any, sample_weight: Any, lengths: Any) -> Prepared:
        if lengths is not None:
            raise ValueError("lengths do not go with a template; give a list of sequences")
        truth, X = split_labels(y), sequence_list(X)
        if len(truth) != len(X):
            raise ValueError(f"X has {len(X)} sequences and y has {len(truth)}")
        for at, item in enumerate(X):
            if not len_of(item):
                raise ValueError(f"sequence {at}: a sequence needs at least one token")
        if not X:
            raise ValueError("there are no sequences")
        labels = Labels(as_classes(chain.from_iterable(truth)))
        names = dict(zip(labels.classes.tolist(), labels.names(), strict=True))
        with without_collection():
            text = column_text(X, [[names[label] for label in own] for own in truth])
        given = self._input("X", None, text, self._width(X) + 1)
        weights, whole = total(sample_weight, len(X))
        given["weights"] = None if weights is None else weights.tolist()
        prepared = self._prepare_input(given, labels)
        prepared.total_weight = whole
        return prepared

    def _prepare_input(self, given: dict[str, Any], labels: Labels | None = None) -> Prepared:
        """Reads data to train on; ``labels`` are those that their names stand for, if not texts."""
        data, names, attributes, format = native.SequenceData.read_training(given)
        self._read_template = data.template()
        classes = loaded_classes(names.list())
        if labels is not None:
            place = {name: at for at, name in enumerate(labels.names())}
            classes = labels.classes[[place[name] for name in names.list()]]
        self._labels = Labels(classes)
        self.classes_ = classes
        if len(classes) < 2:
            raise ValueError(f"there is nothing to learn from {len(classes)} label")
        self._new_attributes(None, None)  # type: ignore[attr-defined]
        self._attribute_cache = attributes
        spec = self._spec(len(attributes), data)  # type: ignore[attr-defined]
        spec |= kernel_part(self, data, len(attributes))
        bounds = group_bounds(self.bounds)
        return Prepared(spec, data, names, attributes, format, float(len(data)), bounds)

    def _read_file(self, file: SequenceFile, labelled: bool) -> native.SequenceData:
        """Reads a file for the fitted names."""
        columns, kept, format = None, self._kept_template(), file.format
        # There is no model yet while it is being fitted.
        model = self.__dict__.get("_model")
        meta: dict[str, Any] = {} if model is None else json.loads(model.meta())
        if not labelled and kept is None:
            # Whether there are labels in it can only be told by how many columns there were in training.
            columns = meta["template"]["columns"] if meta.get("template") else None
        if format not in (None, "conll", "conllu"):
            kept = None
        given = self._input(file.path, format, columns=columns, kept=kept)
        if kept is None and given["template"] is None and format is None:
            # Models that have kept no template know one of columns, or attributes that columns lack.
            given["format"] = "conll" if meta.get("format") == "conll" else None
            given["refuse_columns"] = given["format"] is None
        return self._read(given, labelled)

    def _read(self, given: dict[str, Any], labelled: bool) -> native.SequenceData:
        """Reads data for the fitted names."""
        names = self._attributes()  # type: ignore[attr-defined]
        return native.SequenceData.read_with(given, self._labels.alphabet(), names, labelled)

    def _column_examples(
        self, X: Any, y: Any = None, weights: np.ndarray | None = None
    ) -> native.SequenceData:
        """Columns for the fitted names."""
        X, names = list(X), None
        if y is not None:
            known = self._labels.names()
            pairs = [zip(self._labels.encode(own, strict=False), own, strict=True) for own in y]
            names = [[known[k] if k < len(known) else str(own) for k, own in row] for row in pairs]
        columns, kept = self._width(X) + 1, self._kept_template()
        given = self._input("X", None, column_text(X, names), columns, kept)
        given["weights"] = None if weights is None else weights.tolist()
        return self._read(given, names is not None)

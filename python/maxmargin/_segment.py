"""Sequences that are cut into segments."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _maxmargin as native
from ._attributes import AttributeNames
from ._base import BaseSVM, Prepared, total
from ._class_weight import class_weights
from ._inputs import Sequences, len_of, located, one_each
from ._labels import Labels, as_classes, loaded_classes
from ._settings import group_bounds, rescaling_name, threads, whole_number
from ._types import ClassWeight, OnInterrupt, Rescaling

#: The name of the attribute that all tokens have; the command line has it too.
CONSTANT = "(constant)"


class SegmentSVM(AttributeNames, BaseSVM):
    """Cuts sequences into labelled segments: a semi-Markov chain.

    In contrast to :class:`ChainSVM`, the score can depend on a segment as a whole: on its length, and
    on features of the segment. The score of segments is the sum over their tokens of ⟨w[y], xₜ⟩, plus
    a weight for the length and label of each segment, plus ⟨v[y], z⟩ for the features z of each
    segment, plus a weight for each pair of neighbouring labels. The best segments are found exactly,
    by dynamic programming.

    Parameters
    ----------
    lam, C, tol, max_passes, solver, order, direction, cache, bounds, max_seconds, validation, \
patience, n_jobs, random_state, warm_start, backend, verbose, callback, on_interrupt, options
        As in :class:`ChainSVM`; the groups for ``bounds`` are ``tokens``, ``segments``, ``lengths``,
        ``transition`` and ``first``.
    longest : int, optional
        The largest number of tokens of a segment; that of the longest segment in training by default.
        Time grows with it.
    segment_features : callable, optional
        ``segment_features(x, start, stop)`` gives the features of the segment of the tokens ``start``
        to ``stop - 1`` of a sequence ``x``: a list of numbers, always as many. It is called for all
        segments of up to ``longest`` tokens.
    loss : {"hamming", "normalised"}, default="hamming"
        The number of tokens that are wrong, or their share. A token is wrong if its label is, or if it begins a
        segment where it should not, or the other way round.
    class_weight : dict or "balanced", optional
        What a wrong token costs by its true label: weights by label, or ``"balanced"`` for n/(k count) with n
        tokens of k labels.
    fit_intercept : bool, default=True
        Whether tokens have a constant weight for each label.
    first_tokens : bool, default=True
        Whether the first token of a segment has weights of its own, besides those of all tokens: what begins a
        segment is often told by its first word.
    rescaling : {"margin", "slack"}, default="margin"
        As in :class:`ChainSVM`.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    longest_ : int
        The largest number of tokens of a segment.
    weights_ : dict of ndarray
        The weights: ``tokens`` (features × labels), ``segments`` (features × labels), ``lengths``
        (lengths from 1 × labels), ``transition`` (labels × labels), and ``first`` (features × labels).
    n_features_in_, n_segment_features_in_ : int
        Numbers of features of tokens, if these are matrices, and of segments.
    attribute_names_ : list of str
        The names of the attributes of tokens.
    coef_, certificate_, history_, status_, n_iter_
        As in :class:`ChainSVM`.

    Examples
    --------
    A sequence is a matrix with a row per token, and its segments are tuples ``(start, stop, label)``:

    >>> import numpy as np
    >>> from maxmargin import SegmentSVM
    >>> X = [np.array([[1.0], [1.0], [1.0], [0.0], [1.0], [1.0]]), np.array([[0.0], [1.0], [1.0]])]
    >>> y = [[(0, 3, "long"), (3, 4, "gap"), (4, 6, "short")], [(0, 1, "gap"), (1, 3, "short")]]
    >>> model = SegmentSVM(lam=0.01).fit(X, y)
    >>> model.predict(X) == y
    True
    >>> model.certificate_.quality
    'exact'
    """

    _kind: ClassVar[str] = "segment"

    def __init__(
        self,
        lam: float | str | None = "scale",
        *,
        C: float | None = None,
        measure: str | None = None,
        tol: float | str = "1%",
        max_passes: int = 1000,
        solver: str = "auto",
        order: str | None = None,
        direction: str | None = None,
        cache: str | None = None,
        longest: int | None = None,
        segment_features: Callable[[Any, int, int], Any] | None = None,
        loss: str = "hamming",
        class_weight: ClassWeight = None,
        fit_intercept: bool = True,
        first_tokens: bool = True,
        bounds: Any = None,
        rescaling: Rescaling = "margin",
        max_seconds: float | None = None,
        validation: float | None = None,
        patience: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        backend: Any = None,
        verbose: int = 0,
        callback: Any = None,
        on_interrupt: OnInterrupt = "raise",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._keep(locals())

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, validation: Any = None
    ) -> SegmentSVM:
        """Trains on sequences whose segments are known.

        Parameters
        ----------
        X : list
            One item per sequence: a matrix with a row per token (a NumPy array, a SciPy sparse matrix or a
            data frame), or a list of tokens, each a dictionary or a list of attributes.
        y : list of lists
            The segments of each sequence in order, tuples ``(start, stop, label)``, which cover it
            without gaps. :func:`maxmargin.io.segments_of_tags` makes them of BIO tags.
        sample_weight : array-like, optional
            A positive weight for each sequence.
        validation : tuple (X, y), optional
            Data to measure the error on while training, instead of a part held out.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, validation)
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any = None, **extra: Any) -> Prepared:
        if self.loss not in ("normalised", "hamming"):
            raise ValueError(f"loss is {self.loss!r}; known are 'normalised' and 'hamming'")
        X = list(X)
        if not X:
            raise ValueError("there are no sequences")
        truth = [
            as_segments(own, at) for at, own in enumerate(one_each("sequences", len(X), "y", y))
        ]
        found = (label for own in truth for _, _, label in own)
        classes = as_classes([*found, *self._ahead()])
        if len(classes) == 0:
            raise ValueError("there are no segments to learn from")
        self._labels = Labels(classes)
        self.classes_ = classes
        most = max(stop - start for own in truth for start, stop, _ in own)
        self.longest_ = most if self.longest is None else whole_number("longest", self.longest, 1)
        sequences = Sequences(X)
        attributes = self._new_attributes(sequences.width, sequences.names)
        self.n_segment_features_in_ = 0
        if self.segment_features is not None:
            self.n_segment_features_in_ = len(np.ravel(self.segment_features(X[0], 0, 1)))
        weights, whole = total(sample_weight, len(X))
        # The names of attributes grow while tokens are read.
        none = native.Alphabet()
        read = sequences.fill(None, none, attributes, grow=True)
        constant = len(attributes) if self.fit_intercept else None
        data = self._fill(X, read, constant, truth, weights)
        names = attributes.list()
        names += [CONSTANT] if self.fit_intercept else []
        tokens = len(names)
        names += [f"segment {at + 1}" for at in range(self.n_segment_features_in_)]
        spec = {
            "kind": "segment",
            "rescaling": rescaling_name(self.rescaling),
            "shape": {
                "labels": len(classes),
                "token_attributes": tokens,
                "segment_attributes": self.n_segment_features_in_,
                "longest": self.longest_,
                "firsts": bool(self.first_tokens),
            },
            "normalised": self.loss == "normalised",
            "label_weights": self._costs(truth),
        }
        return Prepared(
            spec,
            data,
            self._labels.alphabet(),
            native.Alphabet(names),
            "crfsuite",
            whole,
            group_bounds(self.bounds),
        )

    def _costs(self, truth: list[list[tuple[int, int, Any]]]) -> list[float]:
        """What a wrong token costs by its true label; nothing if it is 1 for all."""
        lengths = [stop - start for own in truth for start, stop, _ in own]
        labels = self._labels.encode([label for own in truth for _, _, label in own])
        found = class_weights(self.class_weight, self._labels, np.repeat(labels, lengths))
        return [] if found is None else found.tolist()

    def _fill(
        self,
        X: list[Any],
        read: native.SequenceData,
        constant: int | None,
        truth: Any,
        weights: np.ndarray | None,
    ) -> native.SegmentData:
        """Sequences in the form that training takes, from their tokens."""
        data = native.SegmentData()
        for at, x in enumerate(X):
            try:
                places, rows = self._candidates(x, len_of(x))
                data.add_sequence(
                    read,
                    at,
                    constant,
                    places,
                    rows,
                    None if truth is None else self._numbered(truth[at]),
                    1.0 if weights is None else float(weights[at]),
                )
            except (TypeError, ValueError) as error:
                raise located(f"sequence {at}", error) from None
        return data

    def _candidates(self, x: Any, tokens: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Places (start, length) of all segments, and their features."""
        if self.n_segment_features_in_ == 0:
            return None, None
        if self.segment_features is None:
            raise ValueError("the model needs segment_features, which files do not keep; set it")
        places, rows = [], []
        for start in range(tokens):
            for length in range(1, min(self.longest_, tokens - start) + 1):
                row = np.ravel(np.asarray(self.segment_features(x, start, start + length), float))
                if len(row) != self.n_segment_features_in_:
                    raise ValueError(
                        f"segment_features gave {len(row)} numbers for the tokens {start} to "
                        f"{start + length - 1}, and {self.n_segment_features_in_} before"
                    )
                places.append((start, length))
                rows.append(row)
        return np.array(places, dtype=np.int64), np.array(rows)

    def _numbered(self, segments: list[tuple[int, int, Any]]) -> list[tuple[int, int]]:
        labels = self._labels.encode([label for _, _, label in segments], strict=False)
        pairs = zip(segments, labels, strict=True)
        return [(stop - start, int(label)) for (start, stop, _), label in pairs]

    def _examples(self, X: Any, y: Any = None, **extra: Any) -> native.SegmentData:
        X = list(X)
        weights, _ = total(extra.get("sample_weight"), len(X))
        truth = None
        if y is not None or extra.get("labelled"):
            own = one_each("sequences", len(X), "y", y)
            truth = [as_segments(segments, at) for at, segments in enumerate(own)]
        sequences, attributes = Sequences(X), self._attributes()
        columns = self._columns_of(sequences.width, sequences.names)
        none = native.Alphabet()
        read = sequences.fill(None, none, attributes, grow=False, columns=columns)
        self._check_known(read.unknown)
        constant = len(attributes) if self.fit_intercept else None
        return self._fill(X, read, constant, truth, weights)

    def _attributes(self) -> native.Alphabet:
        alphabet = self.__dict__.get("_attribute_cache")
        if alphabet is None:
            shape = json.loads(self._model.meta())["spec"]["shape"]
            tokens = shape["token_attributes"] - bool(self.fit_intercept)
            alphabet = native.Alphabet(self._model.attributes().list()[:tokens])
            self._attribute_cache = alphabet
        return alphabet

    def _restore(self, model: native.Model, meta: dict[str, Any]) -> None:
        self.rescaling = meta["spec"].get("rescaling", "margin")
        shape = meta["spec"]["shape"]
        self._labels = Labels(loaded_classes(model.labels().list()))
        self.classes_ = self._labels.classes
        names = model.attributes().list()[: shape["token_attributes"]]
        constant = bool(names) and names[-1] == CONSTANT
        self.longest_ = shape["longest"]
        self._restore_attributes(native.Alphabet(names[: len(names) - int(constant)]))
        self.n_segment_features_in_ = shape["segment_attributes"]
        self.set_params(
            longest=self.longest_,
            loss="normalised" if meta["spec"]["normalised"] else "hamming",
            fit_intercept=constant,
            first_tokens=bool(shape.get("firsts")),
            class_weight=self._restored_costs(meta["spec"]),
        )

    def _restored_costs(self, spec: dict[str, Any]) -> dict[Any, float] | None:
        costs = spec.get("label_weights") or []
        return dict(zip(self.classes_.tolist(), costs, strict=False)) or None

    def _set_weights(self) -> None:
        self.coef_ = self._model.weights()
        self.weights_ = self._groups(self.coef_)

    def predict(self, X: Any) -> list[list[tuple[int, int, Any]]]:
        """The best segments of each sequence, tuples ``(start, stop, label)``."""

        def ask(data: native.SegmentData) -> list[Any]:
            return self._model.predict_segments(data, threads(self.n_jobs))

        check_is_fitted(self, "certificate_")
        labels, predicted = self.classes_.tolist(), []
        for own in self._ask(X, ask, []):
            start, segments = 0, []
            for length, label in own:
                segments.append((start, start + length, labels[label]))
                start += length
            predicted.append(segments)
        return predicted

    def decision_function(self, X: Any) -> list[np.ndarray]:
        """For each sequence a matrix (tokens × labels): the score of the best segments that give this token this
        label."""

        def ask(data: native.SegmentData) -> list[Any]:
            return self._model.segment_max_marginals(data, threads(self.n_jobs))

        check_is_fitted(self, "certificate_")
        return self._ask(X, ask, np.empty((0, len(self.classes_))))

    def _ask(self, X: Any, ask: Callable[[native.SegmentData], list[Any]], empty: Any) -> list[Any]:
        """What the model answers for each sequence; ``empty`` for those without tokens."""
        X = list(X)
        full = [x for x in X if len_of(x) > 0]
        found = iter(ask(self._examples(full)) if full else [])
        return [next(found) if len_of(x) > 0 else empty for x in X]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of tokens whose label is right, and that begin a segment where they should."""
        found = self.predict(X)
        truth = [
            as_segments(own, at) for at, own in enumerate(one_each("sequences", len(found), "y", y))
        ]
        weights, _ = total(sample_weight, len(found))
        right = whole = 0.0
        for at, (a, b) in enumerate(zip(truth, found, strict=True)):
            tags, own = token_tags(a), token_tags(b)
            if len(tags) != len(own):
                raise ValueError(f"sequence {at} has {len(own)} tokens and segments of {len(tags)}")
            weight = 1.0 if weights is None else float(weights[at])
            right += weight * sum(p == q for p, q in zip(tags, own, strict=True))
            whole += weight * len(own)
        return right / whole if whole else 1.0


def as_segments(segments: Any, at: int) -> list[tuple[int, int, Any]]:
    """Segments in order, which cover a sequence without gaps."""
    place, found = 0, []
    for one in segments:
        try:
            start, stop, label = one
            start, stop = int(start), int(stop)
        except (TypeError, ValueError):
            raise ValueError(
                f"sequence {at}: a segment is a tuple (start, stop, label), not {one!r}"
            ) from None
        if start != place or stop <= start:
            raise ValueError(
                f"sequence {at}: the segment ({start}, {stop}) should begin at token {place} and have "
                "at least one token"
            )
        found.append((start, stop, label))
        place = stop
    return found


def token_tags(segments: list[tuple[int, int, Any]]) -> list[tuple[Any, bool]]:
    """The label of each token, and whether it begins a segment."""
    return [(label, t == start) for start, stop, label in segments for t in range(start, stop)]

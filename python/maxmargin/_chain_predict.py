"""What a trained model of sequences says of new ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _maxmargin as native
from ._base import check_n, total
from ._columns import is_columns
from ._inputs import Sequences, split_labels
from ._labels import UNKNOWN, Labels
from ._settings import threads
from .io import SequenceFile

#: The labels of a sequence without tokens.
NOTHING = np.empty(0, dtype=np.uint32)


class PredictsSequences:
    """The predictions of an estimator of sequences, and its score."""

    template: Any
    n_jobs: Any
    classes_: np.ndarray
    _model: native.Model
    _labels: Labels
    _examples: Any
    _fill: Any
    _column_examples: Any

    def _ask(self, X: Any, lengths: Any, fixed: Any, open_label: Any, ask: Any, empty: Any) -> Any:
        """What ``ask`` says of each sequence and of what is fixed of it; ``empty`` of one without
        tokens."""
        check_is_fitted(self, "certificate_")
        if isinstance(X, SequenceFile):
            return ask(self._examples(X), self._fixed(fixed, open_label))
        columns = is_columns(self.template, X)
        sequences = None if columns else Sequences(X, lengths)
        full = np.array([len(own) > 0 for own in X]) if sequences is None else sequences.full()
        if fixed is not None:
            if len(fixed) != len(full):
                raise ValueError(f"X has {len(full)} sequences and fixed has {len(fixed)}")
            fixed = [own for own, on in zip(fixed, full, strict=True) if on]
        found: Any = iter(())
        if full.any():
            if sequences is None:
                data = self._column_examples([own for own in X if len(own) > 0])
            else:
                data = self._fill(sequences)
            found = iter(ask(data, self._fixed(fixed, open_label)))
        return [next(found) if on else empty for on in full]

    def predict(
        self,
        X: Any,
        *,
        lengths: Any = None,
        rules: str | None = None,
        fixed: Sequence[Sequence[Any]] | None = None,
        open_label: Any = None,
    ) -> list[np.ndarray]:
        """The best labels of each sequence.

        Parameters
        ----------
        X : list
            Sequences, as in :meth:`fit`; attributes that are not known are left out.
        lengths : array-like, optional
            The lengths of the sequences in one stacked matrix.
        rules : {"bio"}, optional
            Predict only labellings in which no ``I-X`` comes without its ``B-X``.
        fixed : list of lists, optional
            Labels that are known already; the others are ``open_label``.
        open_label : object, default=None
            What stands for a label to be predicted in ``fixed``.

        Examples
        --------
        >>> from maxmargin import ChainSVM
        >>> model = ChainSVM().fit([[["x"], ["y"]], [["y"]]], [["B-P", "I-P"], ["O"]])
        >>> model.predict([[["y"]]], rules="bio")[0].tolist()
        ['O']
        >>> model.predict([[["y"], ["y"]]], fixed=[["B-P", None]])[0].tolist()[0]
        'B-P'
        """

        def ask(data: native.SequenceData, fixed: Any) -> Any:
            return self._model.predict_chain(data, rules, fixed, threads(self.n_jobs))

        found = self._ask(X, lengths, fixed, open_label, ask, (NOTHING, 0.0))
        return [self._labels.decode(numbers) for numbers, _ in found]

    def _fixed(self, fixed: Any, open_label: Any) -> list[list[int]] | None:
        if fixed is None:
            return None
        return [
            [-1 if label == open_label else int(self._labels.encode([label])[0]) for label in own]
            for own in fixed
        ]

    def predict_nbest(
        self,
        X: Any,
        n: int = 5,
        *,
        lengths: Any = None,
        rules: str | None = None,
        fixed: Any = None,
        open_label: Any = None,
    ) -> list[list[tuple[np.ndarray, float]]]:
        """The ``n`` best labellings of each sequence with their scores, best first."""
        most = check_n(n)

        def ask(data: native.SequenceData, fixed: Any) -> Any:
            return self._model.predict_chain_n_best(data, most, rules, fixed, threads(self.n_jobs))

        found = self._ask(X, lengths, fixed, open_label, ask, [(NOTHING, 0.0)])
        return [[(self._labels.decode(y), score) for y, score in paths] for paths in found]

    def predict_confidence(
        self,
        X: Any,
        *,
        lengths: Any = None,
        rules: str | None = None,
        fixed: Any = None,
        open_label: Any = None,
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """The best labels of each sequence, and for each token how much the score of the whole would
        fall at least with another label there."""

        def ask(data: native.SequenceData, fixed: Any) -> Any:
            return self._model.predict_chain_margins(data, rules, fixed, threads(self.n_jobs))

        found = self._ask(X, lengths, fixed, open_label, ask, (NOTHING, np.empty(0)))
        return [(self._labels.decode(y), margins) for y, margins in found]

    def predict_marginals(
        self,
        X: Any,
        *,
        lengths: Any = None,
        rules: str | None = None,
        fixed: Any = None,
        open_label: Any = None,
    ) -> list[np.ndarray]:
        """For each sequence a matrix (tokens × labels) of probabilities: the softmax of the scores of all
        labellings, p(y) ∝ exp(score of y), summed up by label.

        They rank labels. A structured SVM is not trained to be calibrated, so they do not say how often a label is
        right.

        >>> from maxmargin import ChainSVM
        >>> model = ChainSVM(lam=0.1).fit([[["x"], ["y"]], [["y"]]], [["a", "b"], ["b"]])
        >>> table = model.predict_marginals([[["x"], ["y"]]])[0]
        >>> table.shape, table.sum(axis=1).round(6).tolist(), bool(table[0, 0] > 0.5)
        ((2, 2), [1.0, 1.0], True)
        """
        found = self._log_sums_and_marginals(X, lengths, rules, fixed, open_label)
        return [table for _, table in found]

    def _log_sums_and_marginals(
        self,
        X: Any,
        lengths: Any = None,
        rules: str | None = None,
        fixed: Any = None,
        open_label: Any = None,
    ) -> list[tuple[float, np.ndarray]]:
        """The logarithm of the sum of exp(score) over all labellings of each sequence, and its marginals."""

        def ask(data: native.SequenceData, fixed: Any) -> Any:
            return self._model.chain_marginals(data, rules, fixed, threads(self.n_jobs))

        check_is_fitted(self, "certificate_")
        empty = (0.0, np.empty((0, len(self.classes_))))
        return self._ask(X, lengths, fixed, open_label, ask, empty)

    def decision_function(self, X: Any, *, lengths: Any = None) -> list[np.ndarray]:
        """For each sequence a matrix (tokens × labels): the score of the best labelling that has this
        label at this token."""

        def ask(data: native.SequenceData, _: Any) -> Any:
            return self._model.chain_max_marginals(data, threads(self.n_jobs))

        check_is_fitted(self, "certificate_")
        return self._ask(X, lengths, None, None, ask, np.empty((0, len(self.classes_))))

    def score(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, lengths: Any = None
    ) -> float:
        """The share of labels that are right."""
        if isinstance(X, SequenceFile):
            data = self._examples(X, labelled=True)
            answers = self._model.predict_chain(data, threads=threads(self.n_jobs))
            found = [numbers for numbers, _ in answers]
            pairs = zip(data.labels(), found, strict=True)
            return float(np.mean(np.concatenate([a == b for a, b in pairs])))
        found = self.predict(X, lengths=lengths)
        truth = split_labels(y, lengths)
        if len(truth) != len(found):
            raise ValueError(f"X has {len(found)} sequences and y has {len(truth)}")
        weights, _ = total(sample_weight, len(truth))
        right = whole = 0.0
        for at, (own, predicted) in enumerate(zip(truth, found, strict=True)):
            weight = 1.0 if weights is None else float(weights[at])
            numbers = self._labels.encode(own, strict=False)
            predicted = self._labels.encode(predicted)
            if len(numbers) != len(predicted):
                raise ValueError(
                    f"sequence {at}: it has {len(predicted)} tokens and {len(numbers)} labels"
                )
            right += weight * float(np.sum((numbers == predicted) & (numbers != UNKNOWN)))
            whole += weight * len(numbers)
        return right / whole if whole else 1.0

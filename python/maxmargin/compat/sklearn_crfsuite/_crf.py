"""The estimator that takes the place of ``sklearn_crfsuite.CRF``."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..._base import load
from ..._chain import ChainSVM
from ..._settings import MAX_PASSES

#: Parameters of CRFsuite's trainers that have no meaning here.
WITHOUT_MEANING = (
    "min_freq",
    "all_possible_states",
    "all_possible_transitions",
    "c1",
    "num_memories",
    "epsilon",
    "period",
    "delta",
    "linesearch",
    "max_linesearch",
    "calibration_eta",
    "calibration_rate",
    "calibration_samples",
    "calibration_candidates",
    "calibration_max_trials",
    "pa_type",
    "c",
    "error_sensitive",
    "averaging",
    "variance",
    "gamma",
    "trainer_cls",
)


def _no_probabilities(self: Any) -> Any:
    raise AttributeError(
        "a structured SVM has no probabilities, so there are no marginals; "
        "see estimator_.predict_confidence"
    )


class CRF(BaseEstimator):
    """Takes the place of ``sklearn_crfsuite.CRF``: lists of dictionaries in, lists of labels out.

    It is not a conditional random field but a structured SVM, so there are no probabilities:
    ``predict_marginals`` is missing on purpose, and ``estimator_.predict_confidence`` is there instead.

    Parameters
    ----------
    algorithm : str, optional
        Not used.
    c2 : float, optional
        Strength of L2 regularization as in CRFsuite, where it is not divided by the number of
        examples: λ = 2 c2/n.
    max_iterations : int, optional
        Passes at most.
    verbose : bool, default=False
        Whether to show progress.
    model_filename : str, optional
        A file that ``fit`` writes the model to.
    lam, tol, n_jobs, random_state, average
        As in :class:`ChainSVM`; ``average`` returns averaged weights if true.
    min_freq, all_possible_states, all_possible_transitions, c1, num_memories, epsilon, period, delta, \
linesearch, max_linesearch, calibration_eta, calibration_rate, calibration_samples, \
calibration_candidates, calibration_max_trials, pa_type, c, error_sensitive, averaging, variance, gamma, \
keep_tempfiles, trainer_cls
        They are kept, but mean nothing here; ``fit`` warns if they are set.

    Attributes
    ----------
    estimator_ : ChainSVM
        What was trained, with its certificate.
    classes_, attributes_ : list of str
        The labels and the attributes.
    state_features_, transition_features_ : dict
        The weights by (attribute, label) and by (label, next label).
    num_attributes_, size_ : int
        The number of attributes, and of bytes of the model.
    tagger_ : Tagger
        The model with the methods ``tag``, ``set``, ``labels`` and ``info``.
    training_log_ : TrainingLog
        The passes of the training.

    Examples
    --------
    >>> from maxmargin.compat.sklearn_crfsuite import CRF
    >>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "cat"}]]
    >>> crf = CRF(c2=0.01).fit(X, [["DET", "N"], ["N"]])
    >>> crf.predict_single([{"word": "the"}, {"word": "cat"}])
    ['DET', 'N']
    >>> sorted(crf.classes_)
    ['DET', 'N']
    """

    def __init__(
        self,
        algorithm: str | None = None,
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        period: int | None = None,
        delta: float | None = None,
        linesearch: str | None = None,
        max_linesearch: int | None = None,
        calibration_eta: float | None = None,
        calibration_rate: float | None = None,
        calibration_samples: int | None = None,
        calibration_candidates: int | None = None,
        calibration_max_trials: int | None = None,
        pa_type: int | None = None,
        c: float | None = None,
        error_sensitive: bool | None = None,
        averaging: bool | None = None,
        variance: float | None = None,
        gamma: float | None = None,
        verbose: bool = False,
        model_filename: str | os.PathLike[str] | None = None,
        keep_tempfiles: bool | None = False,
        trainer_cls: Any = None,
        *,
        lam: float | str | None = None,
        tol: float | str = "1%",
        n_jobs: int | None = None,
        random_state: Any = None,
        average: bool = False,
    ) -> None:
        for name, value in list(locals().items()):
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    def fit(self, X: Any, y: Any, X_dev: Any = None, y_dev: Any = None) -> CRF:
        """Trains; with development data, stops when their error no longer improves."""
        given = [name for name in WITHOUT_MEANING if getattr(self, name) is not None]
        if given:
            warnings.warn(f"{given} have no meaning for a structured SVM", stacklevel=2)
        if (X_dev is None) != (y_dev is None):
            raise ValueError("X_dev and y_dev go together")
        X, y = list(X), list(y)
        lam = self.lam
        if lam is None and self.c2 is not None:
            lam = 2.0 * self.c2 / max(1, len(X))
        dev = None if X_dev is None else (list(X_dev), list(y_dev))
        self.estimator_ = ChainSVM(
            lam=lam,
            tol=self.tol,
            max_passes=self.max_iterations or MAX_PASSES,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            verbose=int(self.verbose),
            patience=5 if dev is not None else None,
            options={"average": "weighted"} if self.average else None,
        )
        self.estimator_.fit(X, y, validation=dev)
        if self.model_filename is not None:
            self.dump(self.model_filename)
        return self

    @property
    def classes_(self) -> list[str]:
        """The labels."""
        return self._fitted()._labels.names()

    @property
    def attributes_(self) -> list[str]:
        """The attributes."""
        return self._fitted().attribute_names_

    @property
    def num_attributes_(self) -> int:
        """How many attributes there are."""
        return len(self._fitted()._attributes())

    @property
    def size_(self) -> int:
        """How many bytes a file with the model has."""
        return len(self._fitted()._model.to_bytes())

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """Weights by attribute and label; those that are 0 are left out."""
        emission = self._fitted().weights_["emission"]
        names, labels = self.attributes_, self.classes_
        return {
            (names[a], labels[k]): float(emission[a, k])
            for a, k in zip(*emission.nonzero(), strict=True)
        }

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """Weights of one label after another."""
        matrix = self._fitted().weights_["transition"]
        labels = self.classes_
        return {
            (labels[a], labels[b]): float(matrix[a, b])
            for a in range(len(labels))
            for b in range(len(labels))
        }

    @property
    def tagger_(self) -> Tagger:
        """The model with the methods of a tagger."""
        self._fitted()
        return Tagger(self)

    @property
    def training_log_(self) -> TrainingLog:
        """What was known after each pass."""
        return TrainingLog.of(self._fitted().history_)

    def _fitted(self) -> ChainSVM:
        check_is_fitted(self, "estimator_")
        return self.estimator_

    def predict(self, X: Any) -> list[list[str]]:
        """Labels of sequences."""
        return [labels.tolist() for labels in self._fitted().predict(list(X))]

    def predict_single(self, xseq: Any) -> list[str]:
        """Labels of one sequence."""
        return self.predict([xseq])[0]

    #: Missing on purpose, and said so.
    predict_marginals = predict_marginals_single = property(_no_probabilities)

    def score(self, X: Any, y: Any) -> float:
        """The share of labels that are right."""
        return self._fitted().score(list(X), list(y))

    def dump(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file."""
        self._fitted().save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CRF:
        """Reads a model from a file."""
        estimator = load(path)
        if not isinstance(estimator, ChainSVM):
            raise ValueError(
                f"{os.fspath(path)} holds a {type(estimator).__name__}, not a ChainSVM"
            )
        crf = cls()
        crf.estimator_ = estimator
        return crf


@dataclass(frozen=True)
class ModelInfo:
    """What is in a model."""

    labels: dict[str, str]
    attributes: dict[str, str]
    transitions: dict[tuple[str, str], float]
    state_features: dict[tuple[str, str], float]


class Tagger:
    """A model with the methods that ``pycrfsuite.Tagger`` has, but for probabilities."""

    def __init__(self, crf: CRF) -> None:
        self._crf = crf
        self._sequence: Any = None

    def set(self, xseq: Any) -> None:
        """Keeps a sequence for :meth:`tag`."""
        self._sequence = xseq

    def tag(self, xseq: Any = None) -> list[str]:
        """The labels of a sequence, or of the one that was set."""
        xseq = self._sequence if xseq is None else xseq
        if xseq is None:
            raise ValueError("there is no sequence; give one, or set it before")
        return self._crf.predict_single(xseq)

    def labels(self) -> list[str]:
        """The labels that there are."""
        return self._crf.classes_

    def info(self) -> ModelInfo:
        """Labels and attributes with their numbers, and the weights."""
        return ModelInfo(
            labels={name: str(at) for at, name in enumerate(self._crf.classes_)},
            attributes={name: str(at) for at, name in enumerate(self._crf.attributes_)},
            transitions=self._crf.transition_features_,
            state_features=self._crf.state_features_,
        )


@dataclass(frozen=True)
class TrainingLog:
    """The passes of a training: a dictionary each, with ``num``, ``time``, ``loss`` (the objective, NaN
    where it was not computed) and ``gap``."""

    iterations: list[dict[str, float]]

    @classmethod
    def of(cls, history: np.ndarray) -> TrainingLog:
        """The log of a history."""
        times = np.diff(history["seconds"], prepend=0.0)
        return cls(
            [
                {
                    "num": int(row["passes"]),
                    "time": float(time),
                    "loss": float(row["primal"]),
                    "gap": float(row["gap"]),
                }
                for row, time in zip(history, times, strict=True)
            ]
        )

    @property
    def last_iteration(self) -> dict[str, float] | None:
        """The last pass; none if the model was read from a file."""
        return self.iterations[-1] if self.iterations else None

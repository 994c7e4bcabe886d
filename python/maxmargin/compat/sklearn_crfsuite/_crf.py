"""The estimator that takes the place of ``sklearn_crfsuite.CRF``."""

from __future__ import annotations

import os
import warnings
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ..._chain import ChainSVM
from ..._load import load
from ..pycrfsuite import LinePerIterationTrainer, Tagger, Trainer, TrainingLog
from ..pycrfsuite._items import tokens_of
from ..pycrfsuite._tagger import chain_of, file_size, state_features, transition_features
from . import metrics

#: CRFsuite's own names of parameters, where these differ.
NAMES = {
    "min_freq": "feature.minfreq",
    "all_possible_states": "feature.possible_states",
    "all_possible_transitions": "feature.possible_transitions",
    "c1": "c1",
    "c2": "c2",
    "max_iterations": "max_iterations",
    "num_memories": "num_memories",
    "epsilon": "epsilon",
    "period": "period",
    "delta": "delta",
    "linesearch": "linesearch",
    "max_linesearch": "max_linesearch",
    "calibration_eta": "calibration.eta",
    "calibration_rate": "calibration.rate",
    "calibration_samples": "calibration.samples",
    "calibration_candidates": "calibration.candidates",
    "calibration_max_trials": "calibration.max_trials",
    "pa_type": "type",
    "c": "c",
    "error_sensitive": "error_sensitive",
    "averaging": "averaging",
    "variance": "variance",
    "gamma": "gamma",
}

#: The group of the development data.
DEV = 1


class CRF(BaseEstimator):
    """Takes the place of ``sklearn_crfsuite.CRF``: lists of dictionaries in, lists of labels out.

    It is not a conditional random field but a structured SVM, whose parameters are set so that it predicts alike:
    ten passes with averaged weights, more where there are few sequences. Before :meth:`fit` all attributes are
    None.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}, optional
        Says which parameters there are. All are trained in the same way.
    c1, c2 : float, optional
        Strength of regularization as in CRFsuite, where it is not divided by the number of sequences:
        λ = 0.2 (c1 + c2)/n, by default with c1 = 0 and c2 = 1. Weights do not become zero by ``c1``; see
        :meth:`ChainSVM.prune`.
    max_iterations : int, optional
        Passes at most; ten are enough for large data.
    all_possible_states, all_possible_transitions : bool, optional
        All pairs are always possible.
    verbose : bool, default=False
        Whether to print a line for each pass.
    model_filename : path-like, optional
        A file that ``fit`` writes the model to; before that, the model is read from it.
    trainer_cls : type, optional
        A subclass of :class:`maxmargin.compat.pycrfsuite.Trainer`.
    lam, max_passes, tol, n_jobs, random_state, average
        As in :class:`ChainSVM`, in place of what follows from the parameters above; ``average`` returns averaged
        weights if true.
    min_freq, num_memories, epsilon, period, delta, linesearch, max_linesearch, calibration_eta, calibration_rate, \
calibration_samples, calibration_candidates, calibration_max_trials, pa_type, c, error_sensitive, averaging, \
variance, gamma, keep_tempfiles
        They are kept, but have no effect here, of which ``fit`` warns once.

    Attributes
    ----------
    estimator_ : ChainSVM
        What was trained, with its certificate.
    classes_, attributes_ : list of str
        The labels and the attributes.
    state_features_, transition_features_ : dict
        The weights by (attribute, label) and by (label, next label).
    num_attributes_, size_ : int
        The number of attributes, and of bytes of the model file.
    tagger_ : Tagger
        The model with the methods of ``pycrfsuite.Tagger``.
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
    >>> crf.predict_marginals_single([{"word": "cat"}])[0]["N"] > 0.5
    True
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
        trainer_cls: type[Trainer] | None = None,
        *,
        lam: float | str | None = None,
        max_passes: int | None = None,
        tol: float | str = "1%",
        n_jobs: int | None = None,
        random_state: Any = None,
        average: bool = True,
    ) -> None:
        for name, value in list(locals().items()):
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    def fit(self, X: Any, y: Any, X_dev: Any = None, y_dev: Any = None) -> CRF:
        """Trains; with development data, the error on them is measured after passes."""
        if (X_dev is None) != (y_dev is None):
            raise ValueError("Pass both X_dev and y_dev to use the holdout data")
        trainer = self._trainer()
        for xseq, yseq in _pairs(X, y):
            trainer.append(xseq, yseq)
        if X_dev is not None:
            for xseq, yseq in _pairs(X_dev, y_dev):
                trainer.append(xseq, yseq, DEV)
        options = {
            "lam": self.lam,
            "max_passes": self.max_passes,
            "tol": self.tol,
            "n_jobs": self.n_jobs,
            "random_state": self.random_state,
            "options": {"average": "weighted" if self.average else "none"},
        }
        self.estimator_: ChainSVM = trainer._fit(-1 if X_dev is None else DEV, options)
        if self.model_filename is not None:
            self.dump(self.model_filename)
        return self

    def _trainer(self) -> Trainer:
        cls: type[Trainer] = LinePerIterationTrainer
        if self.trainer_cls is not None:
            if not (isinstance(self.trainer_cls, type) and issubclass(self.trainer_cls, Trainer)):
                raise TypeError(
                    "trainer_cls must be a subclass of maxmargin.compat.pycrfsuite.Trainer"
                )
            cls = self.trainer_cls
        trainer = cls(algorithm=self.algorithm, verbose=bool(self.verbose))
        known = set(trainer.params())
        for name, own in NAMES.items():
            value = getattr(self, name)
            if value is None:
                continue
            if own in known:
                trainer.set(own, value)
            else:
                warnings.warn(
                    f"{name} is no parameter of the algorithm {trainer._algorithm}",
                    UserWarning,
                    stacklevel=3,
                )
        return trainer

    def _model(self) -> ChainSVM | None:
        """What was trained, or is in the file; none if there is neither."""
        if "estimator_" not in self.__dict__ and self.model_filename is not None:
            self.estimator_ = chain_of(load(self.model_filename), os.fspath(self.model_filename))
        return self.__dict__.get("estimator_")

    def _fitted(self) -> ChainSVM:
        model = self._model()
        if model is None:
            raise NotFittedError("This CRF instance is not fitted yet; call fit first.")
        return model

    @property
    def classes_(self) -> list[str] | None:
        """The labels."""
        model = self._model()
        return None if model is None else model._labels.names()

    @property
    def attributes_(self) -> list[str] | None:
        """The attributes."""
        model = self._model()
        return None if model is None else model.attribute_names_

    @property
    def num_attributes_(self) -> int | None:
        """How many attributes there are."""
        model = self._model()
        return None if model is None else len(model._attributes())

    @property
    def size_(self) -> int | None:
        """How many bytes the file that :meth:`dump` writes has."""
        model = self._model()
        return None if model is None else file_size(model)

    @property
    def state_features_(self) -> dict[tuple[str, str], float] | None:
        """Weights by attribute and label; those that are 0 are left out."""
        model = self._model()
        return None if model is None else state_features(model)

    @property
    def transition_features_(self) -> dict[tuple[str, str], float] | None:
        """Weights of one label after another."""
        model = self._model()
        return None if model is None else transition_features(model)

    @property
    def tagger_(self) -> Tagger | None:
        """The model with the methods of a tagger."""
        model = self._model()
        if model is None:
            return None
        tagger: Tagger | None = self.__dict__.get("_tagger")
        if tagger is None or tagger._model is not model:
            tagger = self._tagger = Tagger._of(model)
        return tagger

    @property
    def training_log_(self) -> TrainingLog | None:
        """What was known after each pass."""
        model = self._model()
        return None if model is None else TrainingLog.of(model.history_)

    def predict(self, X: Any) -> list[list[str]]:
        """Labels of sequences."""
        model = self._fitted()
        return [labels.tolist() for labels in model.predict([tokens_of(own) for own in X])]

    def predict_single(self, xseq: Any) -> list[str]:
        """Labels of one sequence."""
        return self.predict([xseq])[0]

    def predict_marginals(self, X: Any) -> list[list[dict[str, float]]]:
        """For each token of each sequence, the probability of each label by the softmax of the scores of all
        labellings. It ranks labels; a structured SVM is not trained to be calibrated."""
        model = self._fitted()
        names = model._labels.names()
        tables = model.predict_marginals([tokens_of(own) for own in X])
        return [[dict(zip(names, row, strict=True)) for row in table.tolist()] for table in tables]

    def predict_marginals_single(self, xseq: Any) -> list[dict[str, float]]:
        """The same of one sequence."""
        return self.predict_marginals([xseq])[0]

    def score(self, X: Any, y: Any) -> float:
        """The share of labels that are right."""
        return float(metrics.flat_accuracy_score(list(y), self.predict(X)))

    def dump(self, path: str | os.PathLike[str], *, dual: bool = False) -> None:
        """Writes the model to a file, with its dual point if it is to be verified."""
        self._fitted().save(path, dual=dual)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CRF:
        """Reads a model from a file."""
        crf = cls()
        crf.estimator_ = chain_of(load(path), os.fspath(path))
        return crf

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_tagger"}

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in self.__dict__ or self.model_filename is not None


def _pairs(X: Any, y: Any) -> Any:
    X, y = list(X), list(y)
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} sequences and y has {len(y)}")
    return zip(X, y, strict=True)

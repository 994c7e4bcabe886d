"""For those who come from sklearn-crfsuite: the same class, trained as a structured SVM."""

from __future__ import annotations

import os
import warnings
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._base import load
from .._chain import ChainSVM

__all__ = ["CRF"]

#: Parameters of CRFsuite's trainers that have no meaning here.
WITHOUT_MEANING = (
    "c1",
    "all_possible_states",
    "all_possible_transitions",
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
    "min_freq",
    "trainer_cls",
)


class CRF(BaseEstimator):
    """Takes the place of ``sklearn_crfsuite.CRF``: lists of dictionaries in, lists of labels out.

    It is not a conditional random field but a structured SVM, so there are no probabilities:
    :meth:`predict_marginals` is missing on purpose, and ``predict_confidence`` of :class:`ChainSVM`
    is there instead.

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
    lam, tol, n_jobs, random_state, average
        As in :class:`ChainSVM`; ``average`` returns averaged weights if true.
    **ignored
        Other parameters of ``sklearn_crfsuite.CRF`` are accepted with a warning; unknown ones are
        refused.

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
        *,
        c2: float | None = None,
        max_iterations: int | None = None,
        verbose: bool = False,
        lam: float | None = None,
        tol: float = 0.01,
        n_jobs: int | None = None,
        random_state: Any = None,
        average: bool = False,
        **ignored: Any,
    ) -> None:
        unknown = sorted(set(ignored) - set(WITHOUT_MEANING))
        if unknown:
            raise TypeError(f"unknown parameters {unknown}")
        given = sorted(name for name, value in ignored.items() if value is not None)
        if given:
            warnings.warn(f"{given} have no meaning for a structured SVM", stacklevel=2)
        self.algorithm = algorithm
        self.c2 = c2
        self.max_iterations = max_iterations
        self.verbose = verbose
        self.lam = lam
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.average = average

    @classmethod
    def _get_param_names(cls) -> list[str]:
        names = ["algorithm", "average", "c2", "lam", "max_iterations", "n_jobs", "random_state"]
        return [*names, "tol", "verbose"]

    def fit(self, X: Any, y: Any, X_dev: Any = None, y_dev: Any = None) -> CRF:
        """Trains; with development data, stops when their error no longer improves."""
        X, y = list(X), list(y)
        lam = self.lam
        if lam is None and self.c2 is not None:
            lam = 2.0 * self.c2 / len(X)
        dev = None if X_dev is None else (list(X_dev), list(y_dev))
        self.estimator_ = ChainSVM(
            lam=lam,
            tol=self.tol,
            max_passes=self.max_iterations or 1000,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            verbose=int(self.verbose),
            patience=5 if dev is not None else None,
            options={"average": "weighted"} if self.average else None,
        )
        self.estimator_.fit(X, y, validation=dev)
        return self

    @property
    def classes_(self) -> list[str]:
        """The labels."""
        check_is_fitted(self, "estimator_")
        return [str(label) for label in self.estimator_.classes_]

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """Weights by attribute and label; those that are 0 are left out."""
        emission = self.estimator_.weights_["emission"]
        names = self.estimator_.attribute_names_
        return {
            (names[a], self.classes_[k]): float(emission[a, k])
            for a, k in zip(*emission.nonzero(), strict=True)
        }

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """Weights of one label after another."""
        matrix = self.estimator_.weights_["transition"]
        labels = self.classes_
        return {
            (labels[a], labels[b]): float(matrix[a, b])
            for a in range(len(labels))
            for b in range(len(labels))
        }

    def predict(self, X: Any) -> list[list[str]]:
        """Labels of sequences."""
        check_is_fitted(self, "estimator_")
        return [labels.tolist() for labels in self.estimator_.predict(list(X))]

    def predict_single(self, xseq: Any) -> list[str]:
        """Labels of one sequence."""
        return self.predict([xseq])[0]

    def score(self, X: Any, y: Any) -> float:
        """The share of labels that are right."""
        return self.estimator_.score(list(X), list(y))

    def dump(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file."""
        self.estimator_.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CRF:
        """Reads a model from a file."""
        crf = cls()
        crf.estimator_ = load(path)
        return crf

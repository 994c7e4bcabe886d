"""For those who come from sklearn-crfsuite: the same names, trained as a structured SVM.

``from maxmargin.compat import sklearn_crfsuite`` takes the place of ``import sklearn_crfsuite``.
"""

from __future__ import annotations

from ..pycrfsuite import Tagger, TrainingLog
from . import metrics, scorers
from ._crf import CRF

__all__ = ["CRF", "Tagger", "TrainingLog", "metrics", "scorers"]

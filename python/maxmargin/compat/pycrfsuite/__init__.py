"""For those who come from python-crfsuite: ``Trainer``, ``Tagger`` and ``ItemSequence``, trained as a structured
SVM.

``from maxmargin.compat import pycrfsuite`` takes the place of ``import pycrfsuite``. Model files are those of
maxmargin, which the command line reads too; files of CRFsuite are not read.
"""

from __future__ import annotations

from ._items import ItemSequence
from ._tagger import ParsedDump, Tagger
from ._trainer import LinePerIterationTrainer, Trainer, TrainingLog

__all__ = [
    "ItemSequence",
    "LinePerIterationTrainer",
    "ParsedDump",
    "Tagger",
    "Trainer",
    "TrainingLog",
]

"""Estimators out of model files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeAlias

from . import _maxmargin as native
from ._types import PathLike

if TYPE_CHECKING:
    from ._binary import BinarySVM
    from ._chain import ChainSVM
    from ._graphs import FactorGraphSVM
    from ._matching import MatchingSVM
    from ._multilabel import MultilabelSVM
    from ._pairwise import GraphSVM
    from ._potts import PottsSVM
    from ._rows import MulticlassSVM
    from ._segment import SegmentSVM
    from ._tree import TreeSVM

    #: What a model file can hold.
    Loaded: TypeAlias = (
        BinarySVM
        | ChainSVM
        | FactorGraphSVM
        | GraphSVM
        | MatchingSVM
        | MulticlassSVM
        | MultilabelSVM
        | PottsSVM
        | SegmentSVM
        | TreeSVM
    )


def load(path: PathLike) -> Loaded:
    """Reads a model of any kind from a file.

    >>> import tempfile, pathlib, maxmargin
    >>> model = maxmargin.ChainSVM().fit([[["cat"], ["purrs"]]], [["noun", "verb"]])
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> model.save(file)
    >>> type(maxmargin.load(file)).__name__
    'ChainSVM'
    """
    return estimator_of(native.Model.load(os.fspath(path)))


def estimator_of(model: native.Model) -> Loaded:
    """The fitted estimator that a model makes."""
    from ._binary import BinarySVM
    from ._chain import ChainSVM
    from ._graphs import FactorGraphSVM
    from ._matching import MatchingSVM
    from ._multilabel import MultilabelSVM
    from ._pairwise import GraphSVM, has_labels
    from ._potts import PottsSVM
    from ._rows import MulticlassSVM
    from ._segment import SegmentSVM
    from ._tree import TreeSVM

    rows = (BinarySVM, MulticlassSVM, MultilabelSVM)
    if model.kind == GraphSVM._kind and has_labels(model):
        return GraphSVM._of_model(model)
    known: tuple[type[Loaded], ...] = (
        *rows,
        ChainSVM,
        FactorGraphSVM,
        PottsSVM,
        TreeSVM,
        MatchingSVM,
        SegmentSVM,
    )
    for cls in known:
        if cls._kind == model.kind:
            return cls._of_model(model)
    raise ValueError(f"models of the kind {model.kind} are not known here")

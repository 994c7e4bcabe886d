"""Structured SVMs with a certificate of how good the training is.

The estimators follow scikit-learn's conventions:

=====================  =====================================================
:class:`ChainSVM`       labels of sequences
:class:`SegmentSVM`     labelled segments of sequences
:class:`BinarySVM`      one of two labels
:class:`MulticlassSVM`  one of several labels
:class:`MultilabelSVM`  sets of labels
:class:`PottsSVM`       labels of nodes whose neighbours like to agree
:class:`GraphSVM`       labels of nodes, with any table of weights on edges
:class:`GridSVM`        labels of the pixels of images
:class:`TreeSVM`        kinds and places of the nodes of a tree
:class:`MatchingSVM`    links between the items of two lists
:class:`FactorGraphSVM` states of the variables of factor graphs
:class:`StructuredSVM`  a structure of your own, written in Python
:class:`JointKernelSVM` outputs that a kernel of your own compares as wholes
:class:`LatentSVM`      outputs of which a part is never seen, around another estimator
=====================  =====================================================

>>> import numpy as np
>>> from maxmargin import ChainSVM
>>> X = [np.eye(3)[[0, 1, 2]], np.eye(3)[[2, 1]]]
>>> y = [["a", "b", "c"], ["c", "b"]]
>>> model = ChainSVM(lam=0.01, tol=1e-3).fit(X, y)
>>> [list(map(str, labels)) for labels in model.predict(X)]
[['a', 'b', 'c'], ['c', 'b']]
>>> model.certificate_.gap <= 1e-3
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import decode as decode
    from . import io as io
    from ._base import ConvergenceWarning
    from ._binary import BinarySVM
    from ._certificate import Certificate, Pruning
    from ._chain import ChainSVM
    from ._check import BrokenLaw, check_structure
    from ._graphs import FactorGraphSVM
    from ._grid import GridSVM, grid_edges
    from ._joint import JointKernel, JointKernelSVM
    from ._kernel_map import KernelMap
    from ._latent import LatentSVM
    from ._load import load
    from ._matching import MatchingSVM
    from ._multilabel import MultilabelSVM
    from ._oracle import OracleError, Structure
    from ._pairwise import GraphSVM
    from ._path import RegularizationPath, regularization_path
    from ._potts import PottsSVM
    from ._rows import MulticlassSVM
    from ._runs import Comparison, Report, Run, compare_runs
    from ._segment import SegmentSVM
    from ._structure import StructuredSVM
    from ._tree import TreeSVM
    from .io import (
        SequenceFile,
        read_alignments,
        read_columns,
        read_graphs,
        read_rows,
        read_sequences,
        read_superpixels,
        read_trace,
    )

    __version__: str

#: Where the names of the package are. They are imported when they are first used: scikit-learn takes more
#: than a second, and processes that only call the methods of a structure do not need it.
_HOMES = {
    "BinarySVM": "_binary",
    "BrokenLaw": "_check",
    "Certificate": "_certificate",
    "ChainSVM": "_chain",
    "Comparison": "_runs",
    "ConvergenceWarning": "_base",
    "FactorGraphSVM": "_graphs",
    "GraphSVM": "_pairwise",
    "GridSVM": "_grid",
    "JointKernel": "_joint",
    "JointKernelSVM": "_joint",
    "KernelMap": "_kernel_map",
    "LatentSVM": "_latent",
    "MatchingSVM": "_matching",
    "MulticlassSVM": "_rows",
    "MultilabelSVM": "_multilabel",
    "OracleError": "_oracle",
    "PottsSVM": "_potts",
    "Pruning": "_certificate",
    "RegularizationPath": "_path",
    "Report": "_runs",
    "Run": "_runs",
    "SegmentSVM": "_segment",
    "SequenceFile": "io",
    "Structure": "_oracle",
    "StructuredSVM": "_structure",
    "TreeSVM": "_tree",
    "check_structure": "_check",
    "compare_runs": "_runs",
    "grid_edges": "_grid",
    "load": "_load",
    "read_alignments": "io",
    "read_columns": "io",
    "read_graphs": "io",
    "read_rows": "io",
    "read_sequences": "io",
    "read_superpixels": "io",
    "read_trace": "io",
    "regularization_path": "_path",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        found = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    elif name in ("decode", "io"):
        found = import_module(f".{name}", __name__)
    elif name == "__version__":
        found = import_module("importlib.metadata").version("maxmargin")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__", "decode", "io"})


__all__ = [
    "BinarySVM",
    "BrokenLaw",
    "Certificate",
    "ChainSVM",
    "Comparison",
    "ConvergenceWarning",
    "FactorGraphSVM",
    "GraphSVM",
    "GridSVM",
    "JointKernel",
    "JointKernelSVM",
    "KernelMap",
    "LatentSVM",
    "MatchingSVM",
    "MulticlassSVM",
    "MultilabelSVM",
    "OracleError",
    "PottsSVM",
    "Pruning",
    "RegularizationPath",
    "Report",
    "Run",
    "SegmentSVM",
    "SequenceFile",
    "Structure",
    "StructuredSVM",
    "TreeSVM",
    "check_structure",
    "compare_runs",
    "grid_edges",
    "load",
    "read_alignments",
    "read_columns",
    "read_graphs",
    "read_rows",
    "read_sequences",
    "read_superpixels",
    "read_trace",
    "regularization_path",
]

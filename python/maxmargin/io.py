"""Data and traces of the command line, in Python."""

from __future__ import annotations

import gc
import gzip
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _maxmargin as native

PathLike = str | os.PathLike[str]

__all__ = [
    "SequenceFile",
    "chunk_f1",
    "read_alignments",
    "read_columns",
    "read_graphs",
    "read_rows",
    "read_sequences",
    "read_superpixels",
    "read_trace",
    "segments_of_tags",
    "tags_of_segments",
]


def read_sequences(
    source: PathLike,
    format: str | None = None,
    *,
    template: str | None = None,
    label_column: str | int | None = None,
) -> tuple[list[list[dict[str, float]]], list[list[str]]]:
    """Reads sequences from a file, gzipped or not, or a data set that ships inside.

    Parameters
    ----------
    source : path-like
        A file, or ``"ocr-small"`` or ``"ocr-large"``, each also with ``":test"``.
    format : {"crfsuite", "svm-hmm", "conll", "conllu", "ocr"}, optional
        The format; found out by itself if not given. ``"conll"`` are words in columns with the label
        last, such as ``word label`` or the four columns of CoNLL-2003, ``"conllu"`` is CoNLL-U. Given
        as ``"conll"``, two or three columns are words, parts of speech and chunks, of which the last
        may be missing.
    template : {"words", "words+pos", "chunking"}, optional
        How attributes are made from columns, of which one is the label; by default, what goes with
        the columns.
    label_column : str or int, optional
        The column that is the label: its number from 1, or its name in CoNLL-U or in a header; by
        default the last, and UPOS in CoNLL-U.

    Returns
    -------
    X, y
        Tokens as dictionaries of attributes, and labels as texts (None where there are none). A model
        that is trained on these knows attributes, and no template: use :func:`read_columns` or
        :class:`SequenceFile` for one that the command line can use on words in columns.

    Examples
    --------
    >>> from maxmargin import read_sequences
    >>> X, y = read_sequences("ocr-small")
    >>> len(X), "".join(y[0])
    (626, 'ommanding')
    """
    with without_collection():
        label = None if label_column is None else str(label_column)
        X, y, _ = native.read_sequences(os.fspath(source), format, template, label)
    return X, y


@contextmanager
def without_collection() -> Iterator[None]:
    """Keeps Python from looking for garbage among millions of new objects, again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass(frozen=True)
class SequenceFile:
    """Sequences in a file, for :class:`ChainSVM` to read by itself: nothing is made into Python's
    objects, so that training costs what it does on the command line.

    Parameters
    ----------
    path : path-like
        As in :func:`read_sequences`.
    format : str, optional
        As in :func:`read_sequences`.

    Examples
    --------
    >>> from maxmargin import ChainSVM
    >>> from maxmargin.io import SequenceFile
    >>> model = ChainSVM(lam=0.1, tol=0.1).fit(SequenceFile("ocr-small"))
    >>> model.score(SequenceFile("ocr-small:test")) > 0.75
    True
    """

    path: PathLike
    format: str | None = None


def read_columns(
    source: PathLike, *, labelled: bool = True
) -> tuple[list[list[tuple[str, ...]]], list[list[str]]]:
    """Reads sequences of tokens with columns between tabs or blanks, as in CoNLL's files, for
    ``ChainSVM(template=…)``. Headers, comments and ``-DOCSTART-`` are left out. Of CoNLL-U, words are
    the columns and UPOS is the label.

    Parameters
    ----------
    source : path-like
        A file, gzipped or not: a line per token, a blank line between sequences.
    labelled : bool, default=True
        Whether the last column is the label.

    Returns
    -------
    X, y
        The columns of each token, and the labels (empty lists where there are none).

    Examples
    --------
    >>> import tempfile, pathlib, maxmargin
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "train.txt"
    >>> _ = file.write_text("the DT B-NP\\ncat NN I-NP\\n\\npurrs VBZ B-VP\\n")
    >>> maxmargin.read_columns(file)
    ([[('the', 'DT'), ('cat', 'NN')], [('purrs', 'VBZ')]], [['B-NP', 'I-NP'], ['B-VP']])
    """
    with without_collection():
        return native.read_columns(os.fspath(source), labelled)


def read_rows(
    source: PathLike, format: str | None = None
) -> tuple[sp.csr_matrix, list[list[str]], list[str]]:
    """Reads rows of LIBSVM's formats, with one label each or a list of them.

    Returns
    -------
    X, y, names
        A sparse matrix, the labels of each row, and the names of the columns.
    """
    starts, columns, values, names, labels = native.read_rows(os.fspath(source), format)
    X = sp.csr_matrix((values, columns, starts), shape=(len(labels), len(names)))
    return X, labels, names


def _open(path: PathLike) -> Any:
    path = os.fspath(path)
    opener = gzip.open if path.endswith(".gz") else open
    return opener(path, "rt", encoding="utf-8")


def read_graphs(path: PathLike) -> tuple[list[dict[str, Any]], list[list[int]]]:
    """Reads factor graphs, one JSON object a line, and their true states."""
    graphs, truth = [], []
    with _open(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                graph = json.loads(line)
                truth.append([variable.get("truth") for variable in graph["variables"]])
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ValueError(
                    f"{os.fspath(path)}:{number}: not a factor graph ({error})"
                ) from None
            graphs.append(graph)
    return graphs, truth


def read_superpixels(
    source: PathLike, widths: Sequence[float] = (0.05, 0.1, 0.2, 0.4, np.inf)
) -> tuple[list[tuple[np.ndarray, np.ndarray, np.ndarray]], list[np.ndarray], list[np.ndarray]]:
    """Reads images that were cut into superpixels, for :class:`PottsSVM`.

    Parameters
    ----------
    source : path-like
        A file; with ``":train"`` or the like behind its name, the images of that split.
    widths : sequence of float
        Edges have a feature for each: the length of the common boundary times
        exp(−colour distance / width).

    Returns
    -------
    X, y, pixels
        For each image its graph, the label of each region (1 if most of it is foreground), and for each
        region its number of pixels and how many of them are foreground. (Models of the command line
        call the labels ``"background"`` and ``"foreground"``.)

    Examples
    --------
    >>> import tempfile, pathlib, maxmargin
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "cow.txt"
    >>> _ = file.write_text("G cow train 2 4 2 1\\nN 4 4 .5 1\\nN 4 1 .25 0\\nE 0 1 2 .1\\n")
    >>> X, y, pixels = maxmargin.read_superpixels(f"{file}:train")
    >>> X[0][0].shape, X[0][1].tolist(), y[0].tolist(), pixels[0].tolist()
    ((2, 2), [[0, 1]], [1, 0], [[4, 4], [4, 1]])
    """
    images = native.read_images(os.fspath(source), [float(width) for width in widths])
    X = [(nodes, edges, rows) for _, nodes, edges, rows, _ in images]
    pixels = [own for *_, own in images]
    return X, [(2 * own[:, 1] > own[:, 0]).astype(np.int64) for own in pixels], pixels


def read_alignments(source: PathLike) -> tuple[list[tuple[list[str], list[str]]], list[Any]]:
    """Reads aligned sentences, for :class:`MatchingSVM` once links have features.

    Parameters
    ----------
    source : path-like
        A file; with ``":test"`` or the like behind its name, the pairs of that part.

    Returns
    -------
    sentences, y
        The words of each pair of sentences, and its ``"sure"`` and ``"possible"`` links, counted from 0.
        Features of links are yours to make; those of the command line are not among them.

    Examples
    --------
    >>> import tempfile, pathlib, maxmargin
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "pairs.tsv"
    >>> _ = file.write_text("the house\\tla maison\\t1-1 2-2\\n")
    >>> maxmargin.read_alignments(file)
    ([(['the', 'house'], ['la', 'maison'])], [{'sure': [(0, 0), (1, 1)], 'possible': []}])
    """
    pairs = native.read_sentence_pairs(os.fspath(source))
    y = [{"sure": sure, "possible": possible} for _, _, sure, possible in pairs]
    return [(source_words, target_words) for source_words, target_words, *_ in pairs], y


def read_trace(path: PathLike) -> np.ndarray:
    """Reads the trace of a run of the command line (``--trace``) as the structured array that
    ``history_`` is."""
    rows = []
    with _open(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                event = json.loads(line)
            except ValueError as error:
                raise ValueError(f"{os.fspath(path)}:{number}: not a trace ({error})") from None
            if isinstance(event, dict) and "pass" in event and "oracle_calls" in event:
                rows.append(event)
    from ._base import history_array

    def column(get: Any) -> np.ndarray:
        return np.array([get(row) for row in rows], dtype=np.float64)

    def plain(name: str) -> np.ndarray:
        return column(lambda row: np.nan if row.get(name) is None else row[name])

    names = ["visits", "oracle_calls", "effective_passes", "seconds", "oracle_seconds"]
    names += ["gap_seconds", "dual", "iterate_dual", "average_dual", "primal", "gap", "validation"]
    columns = {"passes": plain("pass")} | {name: plain(name) for name in names}
    for name in ("mean", "zero", "full"):
        columns[f"step_{name}"] = column(lambda row, name=name: row["steps"][name])
    columns |= {name: plain(name) for name in ("bound", "pairwise_gap")}
    for name in ("hits", "local_hits", "misses", "corners", "active", "drops"):
        columns[f"cache_{name}"] = column(
            lambda row, name=name: (row.get("cache") or {}).get(name, np.nan)
        )
    return history_array(columns)


def chunk_f1(truth: Any, predicted: Any) -> tuple[float, float, float]:
    """Precision, recall and F1 of whole chunks in BIO tags, as the CoNLL script counts them.

    >>> from maxmargin.io import chunk_f1
    >>> chunk_f1([["B-NP", "I-NP", "O"]], [["B-NP", "O", "O"]])
    (0.0, 0.0, 0.0)
    """
    as_text = [[str(label) for label in labels] for labels in truth]
    return native.chunk_counts(as_text, [[str(label) for label in labels] for labels in predicted])


def segments_of_tags(
    tags: Sequence[Sequence[str]], scheme: str | None = None
) -> list[list[tuple[int, int, str]]]:
    """The segments that tags of tokens tell, for :class:`SegmentSVM`.

    Parameters
    ----------
    tags : list of lists of str
        The tags of each sequence, such as ``B-NP``, ``I-NP`` and ``O``.
    scheme : {"bio", "bioes", "runs"}, optional
        How tags tell segments. In ``"bio"``, ``B-`` begins a segment and ``I-`` continues it, and each token
        tagged ``O`` is a segment of its own; in ``"bioes"``, ``E-`` ends one and ``S-`` is one of a single token;
        in ``"runs"``, tags are labels, and tokens in a row with the same one are a segment. It is found out by
        itself if not given.

    Returns
    -------
    list of lists of tuples
        The segments ``(start, stop, label)`` of each sequence.

    Examples
    --------
    >>> from maxmargin.io import segments_of_tags, tags_of_segments
    >>> segments_of_tags([["B-NP", "I-NP", "O"]])
    [[(0, 2, 'NP'), (2, 3, 'O')]]
    >>> tags_of_segments([[(0, 2, "NP"), (2, 3, "O")]])
    [['B-NP', 'I-NP', 'O']]
    """
    return native.segments_of_tags([list(own) for own in tags], scheme)


def tags_of_segments(segments: Any, scheme: str = "bio") -> list[list[str]]:
    """The tags of tokens that tell segments: the way back of :func:`segments_of_tags`.

    Parameters
    ----------
    segments : list of lists of tuples
        The segments ``(start, stop, label)`` of each sequence.
    scheme : {"bio", "bioes", "runs"}, default="bio"
        How tags tell segments.

    Returns
    -------
    list of lists of str
        The tags. Tokens of the label ``O`` have the tag ``O`` each, but for ``"runs"``.
    """
    lengths = [[(int(stop) - int(start), str(label)) for start, stop, label in s] for s in segments]
    return native.tags_of_segments(lengths, scheme)

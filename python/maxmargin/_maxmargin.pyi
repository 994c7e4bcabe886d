"""The native half; see crates/maxmargin-py. Not meant to be used directly."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Path = str | os.PathLike[str]
_Labels = NDArray[np.uint32]
_Floats = NDArray[np.float64]
_Data = SequenceData | RowData | GraphData | NodeData | TreeData | PairData | SegmentData
_Rows = NDArray[np.int64]
_Rated = tuple[_Rows, float]
_Callback = Callable[[dict[str, float]], Any]
_Features = tuple[NDArray[np.int64], _Floats]
_Described = tuple[NDArray[np.int64], _Floats, float]
_Bounds = tuple[list[float], list[float]]
_Curve = list[tuple[float, float]]
_Listed = tuple[list[int], list[int], list[float], list[float]]

class Alphabet:
    def __init__(self, names: list[str] = ...) -> None: ...
    @staticmethod
    def numbered(count: int) -> Alphabet: ...
    def get(self, name: str) -> int | None: ...
    def list(self) -> list[str]: ...
    def __len__(self) -> int: ...

class KernelMap:
    def __init__(self, rows: _Floats, kernel: str, left: float, most: int) -> None: ...
    def map(self, rows: _Floats) -> _Floats: ...
    def features(self) -> int: ...
    def left_over(self) -> float: ...

class Dual:
    def __new__(
        cls,
        lambda_: float,
        ends: NDArray[np.uint64],
        parts: NDArray[np.uint64],
        masses: _Floats,
        losses: _Floats,
    ) -> Dual: ...
    @property
    def lambda_(self) -> float: ...
    def arrays(
        self,
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint64], _Floats, _Floats]: ...
    def __len__(self) -> int: ...

class SequenceData:
    def __init__(self) -> None: ...
    @staticmethod
    def read_training(
        input: dict[str, Any],
    ) -> tuple[SequenceData, Alphabet, Alphabet, str]: ...
    @staticmethod
    def read_with(
        input: dict[str, Any], labels: Alphabet, attributes: Alphabet, labelled: bool
    ) -> SequenceData: ...
    def template(self) -> str | None: ...
    def labels(self) -> list[_Labels]: ...
    def transition_scale(self) -> float: ...
    def __len__(self) -> int: ...
    def kernel_scale(self, attributes: int) -> float: ...
    @property
    def unknown(self) -> int: ...
    def add_dense(
        self,
        matrix: Any,
        start: int,
        stop: int,
        columns: NDArray[np.int64] | None,
        attributes: Alphabet,
        label_names: Alphabet,
        labels: _Labels | None,
        weight: float,
    ) -> None: ...
    def add_sparse(
        self,
        starts: Any,
        indices: Any,
        values: Any,
        start: int,
        stop: int,
        columns: NDArray[np.int64] | None,
        attributes: Alphabet,
        label_names: Alphabet,
        labels: _Labels | None,
        weight: float,
    ) -> None: ...
    def add_dicts(
        self,
        sequences: Sequence[Any],
        grow: bool,
        attributes: Alphabet,
        label_names: Alphabet,
        labels: _Labels | None,
        ends: NDArray[np.int64] | None,
        weights: _Floats | None,
    ) -> None: ...

class RowData:
    def __init__(self, constant: int | None = ...) -> None: ...
    def __len__(self) -> int: ...
    def kernel_scale(self, attributes: int) -> float: ...
    def bias_value(self) -> float: ...
    def bias_sums(self) -> tuple[float, _Floats]: ...
    @property
    def unknown(self) -> int: ...
    def add_dense(
        self,
        matrix: Any,
        columns: NDArray[np.int64] | None,
        attributes: Alphabet,
        label_names: Alphabet,
        labels: _Labels | None,
        ends: NDArray[np.int64] | None,
        weights: _Floats | None,
    ) -> None: ...
    def add_sparse(
        self,
        starts: Any,
        indices: Any,
        values: Any,
        columns: NDArray[np.int64] | None,
        attributes: Alphabet,
        label_names: Alphabet,
        labels: _Labels | None,
        ends: NDArray[np.int64] | None,
        weights: _Floats | None,
    ) -> None: ...
    def add_dicts(
        self,
        rows: Sequence[Any],
        grow: bool,
        attributes: Alphabet,
        label_names: Alphabet,
        labels: _Labels | None,
        ends: NDArray[np.int64] | None,
        weights: _Floats | None,
    ) -> None: ...
    def tree(self, labels: int) -> list[tuple[int, int]]: ...

class GraphData:
    def __init__(self, lines: str) -> None: ...
    def __len__(self) -> int: ...
    @property
    def unknown(self) -> int: ...
    @staticmethod
    def pairwise(
        states: int,
        node_attributes: list[str],
        edge_types: list[str],
        edge_attributes: list[str],
    ) -> GraphData: ...
    def add(
        self,
        nodes: Any,
        edges: _Rows,
        edge_types: _Labels | None,
        edge_rows: Any,
        symmetries: list[str],
        labels: _Labels | None,
        node_weights: _Floats | None,
        constant: bool,
        weight: float,
    ) -> None: ...
    def read_more(self, lines: str) -> GraphData: ...
    def names(self) -> tuple[Alphabet, Alphabet]: ...
    def shape(self, ties: list[tuple[str, str]]) -> str: ...

def segments_of_tags(
    sequences: list[list[str]], scheme: str | None = ...
) -> list[list[tuple[int, int, str]]]: ...
def tags_of_segments(sequences: list[list[tuple[int, str]]], scheme: str) -> list[list[str]]: ...

class SegmentData:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def add_sequence(
        self,
        from_: SequenceData,
        i: int,
        constant: int | None,
        places: _Rows | None,
        segment_rows: Any,
        truth: list[tuple[int, int]] | None,
        weight: float,
    ) -> None: ...

class NodeData:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def add(
        self,
        nodes: Any,
        width: int,
        edges: _Rows,
        edge_rows: Any,
        labels: _Labels | None,
        node_weights: _Floats | None,
        constant: bool,
        weight: float,
    ) -> None: ...

class TreeData:
    def __init__(self, shape: str) -> None: ...
    def __len__(self) -> int: ...
    def add(
        self,
        maps: list[Any],
        states: _Rows | None,
        node_weights: _Floats | None,
        scale: float,
        weight: float,
    ) -> None: ...

class PairData:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def add(
        self,
        size: tuple[int, int],
        links: _Rows,
        features: Any,
        width: int,
        gold: _Rows | None,
        link_weights: _Floats | None,
        constant: bool,
        weight: float,
    ) -> None: ...

class Model:
    @staticmethod
    def load(path: _Path) -> Model: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    def save(self, path: _Path, dual: bool) -> None: ...
    def to_bytes(self, dual: bool = ...) -> bytes: ...
    @property
    def kind(self) -> str: ...
    def weights(self) -> _Floats: ...
    def groups(self) -> list[tuple[str, int, int, list[int]]]: ...
    def support(self) -> tuple[NDArray[np.int64], NDArray[np.int64], _Floats] | None: ...
    def labels(self) -> Alphabet: ...
    def attributes(self) -> Alphabet: ...
    def meta(self) -> str: ...
    def history(self) -> dict[str, _Floats]: ...
    def report(self, title: str, history: dict[str, _Floats]) -> str: ...
    def read_graphs(self, lines: str, labelled: bool) -> GraphData: ...
    def verify(self, data: _Data, threads: int) -> tuple[list[str], str]: ...
    def prune(self, data: _Data, rule: str, value: float, threads: int) -> Model: ...
    def predict_chain(
        self,
        data: SequenceData,
        rules: str | None = ...,
        fixed: list[list[int]] | None = ...,
        threads: int = ...,
    ) -> list[tuple[_Labels, float]]: ...
    def predict_chain_n_best(
        self,
        data: SequenceData,
        n: int,
        rules: str | None = ...,
        fixed: list[list[int]] | None = ...,
        threads: int = ...,
    ) -> list[list[tuple[_Labels, float]]]: ...
    def predict_chain_margins(
        self,
        data: SequenceData,
        rules: str | None = ...,
        fixed: list[list[int]] | None = ...,
        threads: int = ...,
    ) -> list[tuple[_Labels, _Floats]]: ...
    def chain_max_marginals(self, data: SequenceData, threads: int) -> list[_Floats]: ...
    def chain_marginals(
        self,
        data: SequenceData,
        rules: str | None = ...,
        fixed: list[list[int]] | None = ...,
        threads: int = ...,
    ) -> list[tuple[float, _Floats]]: ...
    def scores(self, data: RowData, threads: int) -> _Floats: ...
    def predict_sets(self, data: RowData, threads: int) -> list[list[int]]: ...
    def rank_sets(
        self, data: RowData, n: int, threads: int
    ) -> list[tuple[list[tuple[list[int], float]], list[float]]]: ...
    def rank_states(
        self, data: GraphData, n: int, threads: int
    ) -> list[list[tuple[float, list[int]]]]: ...
    def predict_states(self, data: GraphData, threads: int) -> list[list[int]]: ...
    def complete_states(
        self, data: GraphData, allowed: list[list[bool]], threads: int
    ) -> list[list[int]]: ...
    def objective(self, data: _Data, threads: int) -> float: ...
    def predict_segments(self, data: SegmentData, threads: int) -> list[list[tuple[int, int]]]: ...
    def segment_max_marginals(self, data: SegmentData, threads: int) -> list[_Floats]: ...
    def state_scores(self, data: GraphData, threads: int) -> list[list[_Floats]]: ...
    def predict_nodes(self, data: NodeData, threads: int) -> list[_Labels]: ...
    def predict_trees(self, data: TreeData, n: int, threads: int) -> list[list[_Rated]]: ...
    def tree_loss(self, data: TreeData, threads: int) -> float: ...
    def tree_groups(self) -> list[list[tuple[int, int]]]: ...
    def predict_pairs(self, data: PairData, n: int, threads: int) -> list[list[_Rated]]: ...

class Path:
    @staticmethod
    def load(path: _Path) -> Path: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Path: ...
    def save(self, path: _Path) -> None: ...
    def columns(self) -> dict[str, _Floats]: ...
    def weights_at(self, lambda_: float) -> _Floats: ...
    def certificate_at(self, lambda_: float) -> tuple[float, float, float, str]: ...
    def model_at(self, lambda_: float) -> Model: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def lowest(self) -> float: ...
    @property
    def kind(self) -> str: ...
    @property
    def is_guaranteed(self) -> bool: ...
    @property
    def largest_gap(self) -> float: ...

def fit(
    spec: str,
    data: _Data,
    labels: Alphabet,
    attributes: Alphabet,
    format: str,
    settings: str,
    bounds: str,
    held_out: tuple[int, int] | None = ...,
    validation: _Data | None = ...,
    start: Model | None = ...,
    callback: _Callback | None = ...,
    rounds: tuple[list[float], int] | None = ...,
    exact: bool = ...,
    rule: str = ...,
    measure: str | None = ...,
    standardise: str = ...,
    fit_constants: bool = ...,
    more: bool = ...,
    lambda_factor: float = ...,
) -> tuple[Model, dict[str, _Floats], _Curve | None]: ...
def bias_of_sums(rows: float, table: _Floats) -> float: ...
def label_pairs(labels: int) -> str: ...
def follow_path(
    spec: str,
    data: _Data,
    labels: Alphabet,
    attributes: Alphabet,
    format: str,
    settings: str,
    bounds: str,
) -> Path: ...
def fit_structure(
    adapter: Any,
    truths: list[_Features],
    weights: list[float],
    dim: int,
    settings: str,
    bounds: _Bounds | None = ...,
    quality: str = ...,
    start: Dual | None = ...,
    validator: Callable[[_Floats], float] | None = ...,
    callback: _Callback | None = ...,
    rule: str = ...,
    rescaling: str = ...,
) -> tuple[_Floats, Dual, dict[str, _Floats], str]: ...
def check_structure(
    adapter: Any,
    truths: list[_Features],
    dim: int,
    outputs: list[list[_Described]],
    examples: int,
    weights: int,
    seed: int,
    bounds: _Bounds | None = ...,
    quality: str = ...,
) -> list[tuple[str, int, int, str]]: ...
def choose_structure_lambda(
    adapter: Any,
    truths: list[_Features],
    weights: list[float],
    dim: int,
    settings: str,
    examples: int,
    validator: Callable[[_Floats], float],
    bounds: _Bounds | None = ...,
    quality: str = ...,
    rescaling: str = ...,
) -> tuple[float, _Curve]: ...
def structure_report(title: str, about: str, history: dict[str, _Floats]) -> str: ...
def write_page(path: _Path, page: str) -> None: ...
def follow_structure_path(
    adapter: Any,
    truths: list[_Features],
    weights: list[float],
    dim: int,
    settings: str,
    bounds: _Bounds | None = ...,
    quality: str = ...,
    rescaling: str = ...,
) -> Path: ...
def verify_structure(
    adapter: Any,
    truths: list[_Features],
    weights: list[float],
    dim: int,
    coefficients: list[float],
    dual: Dual,
    certificate: str,
    settings: str,
    threads: int,
    bounds: _Bounds | None = ...,
    quality: str = ...,
    rescaling: str = ...,
) -> tuple[list[str], str]: ...
def fit_joint_kernel(
    table: _Floats,
    listed: _Listed,
    settings: str,
    start: Dual | None = ...,
    callback: _Callback | None = ...,
    rule: str = ...,
) -> tuple[_Floats, Dual, dict[str, _Floats], str]: ...
def verify_joint_kernel(
    table: _Floats,
    listed: _Listed,
    coefficients: list[float],
    dual: Dual,
    certificate: str,
    settings: str,
    threads: int,
) -> tuple[list[str], str]: ...
def read_sequences(
    source: str,
    format_name: str | None = ...,
    template: str | None = ...,
    label_column: str | None = ...,
) -> tuple[list[list[dict[str, float]]], list[list[str]], list[float]]: ...
def read_columns(
    source: str, labelled: bool
) -> tuple[list[list[tuple[str, ...]]], list[list[str]]]: ...
def read_rows(
    source: str, format_name: str | None = ...
) -> tuple[NDArray[np.int64], NDArray[np.int64], _Floats, list[str], list[list[str]]]: ...
def read_images(
    source: str, widths: list[float]
) -> list[tuple[str, _Floats, _Rows, _Floats, _Rows]]: ...
def read_sentence_pairs(
    source: str,
) -> list[tuple[list[str], list[str], list[tuple[int, int]], list[tuple[int, int]]]]: ...
def chunk_counts(
    truth: list[list[str]], predicted: list[list[str]]
) -> tuple[float, float, float]: ...

_Numbers = NDArray[np.float64] | NDArray[np.float32]
_Whole = NDArray[np.int64]
_Answers = tuple[_Whole, _Floats, _Floats]

def decode_chains(
    scores: _Numbers,
    transitions: _Numbers | None,
    per_step: bool,
    start: _Numbers | None,
    end: _Numbers | None,
    lengths: _Whole | None,
    truth: _Whole | None,
    loss: _Floats | None,
    is_share: bool,
    answers: int,
    threads: int,
    is_batch: bool,
) -> _Answers: ...
def decode_assignments(
    scores: _Numbers,
    mask: NDArray[np.bool_] | None,
    is_free: bool,
    row_nulls: _Numbers | None,
    column_nulls: _Numbers | None,
    sizes: _Whole | None,
    truth: _Whole | None,
    cost: float,
    is_share: bool,
    answers: int,
    threads: int,
    is_batch: bool,
) -> _Answers: ...
def decode_cuts(
    from_source: _Numbers,
    to_sink: _Numbers,
    edges: _Whole,
    edge_count: int,
    there: _Numbers,
    back: _Numbers,
    items: int,
    threads: int,
    is_batch: bool,
) -> _Answers: ...
def decode_potts(
    scores: _Numbers,
    edges: _Whole,
    edge_count: int,
    costs: _Numbers,
    inference: str,
    lengths: _Whole | None,
    truth: _Whole | None,
    loss: _Floats | None,
    is_share: bool,
    threads: int,
    is_batch: bool,
) -> _Answers: ...
def decode_graphs(
    scores: _Numbers,
    states: _Whole | None,
    edges: _Whole | None,
    edge_count: int,
    scopes: list[list[int]],
    tables: list[_Numbers],
    strides: list[int],
    table_step: int,
    inference: str,
    lengths: _Whole | None,
    truth: _Whole | None,
    loss: _Floats | None,
    is_share: bool,
    answers: int,
    threads: int,
    is_batch: bool,
) -> _Answers: ...

class Shard:
    def __init__(
        self,
        spec: str,
        data: Any,
        labels: Alphabet,
        attributes: Alphabet,
        format: str,
        bounds: str,
    ) -> None: ...
    @staticmethod
    def of_structure(
        adapter: Any,
        truths: list[_Features],
        weights: list[float],
        dim: int,
        bounds: _Bounds | None = ...,
        quality: str = ...,
    ) -> Shard: ...
    def about(
        self, seed: int | None = ...
    ) -> tuple[int, int, float, float, float | None, _Bounds | None]: ...
    def start(
        self, settings: str, lambda_: float, total_weight: float, saved: bytes | None = ...
    ) -> None: ...
    def propose(
        self, round: int, sum: _Floats, passes: int, shards: int
    ) -> tuple[
        list[tuple[NDArray[np.uint32] | None, _Floats, float]],
        tuple[float, float, float, int, str, bool],
        int,
    ]: ...
    def commit(self, round: int, shares: list[float], keep: int) -> bool: ...
    def fence(self, round: int) -> None: ...
    def state(self) -> tuple[_Floats, float, int]: ...
    def check(self, sum: _Floats) -> tuple[float, float, float, int, str, bool]: ...
    def dual(self, lambda_: float) -> Dual: ...
    def to_bytes(self) -> bytes: ...

class Coordinator:
    def __init__(self, lambda_: float, dim: int, bounds: _Bounds | None) -> None: ...
    def sum(self) -> _Floats: ...
    def weights(self) -> _Floats: ...
    def dual(self) -> float: ...
    def add_up(self, shards: list[tuple[_Floats, float]]) -> None: ...
    def forget(self) -> None: ...
    def step(self, proposals: list[Any]) -> list[tuple[list[float], int]]: ...
    def certificate(self, readings: list[Any], weights: np.ndarray | None = None) -> str: ...

def fingerprint_of(data: Any) -> str: ...
def fingerprint_files(inputs: list[dict[str, Any]]) -> str: ...
def model_of_shards(
    spec: str,
    names: tuple[Alphabet, Alphabet, str, str, str | None],
    settings: str,
    bounds: str,
    weights: _Floats,
    duals: list[Dual],
    certificate: str,
    status: str,
    totals: tuple[int, int, float],
) -> Model: ...

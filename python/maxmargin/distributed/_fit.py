"""Makes shards of the arguments of ``fit``, and a fitted estimator of their result."""

from __future__ import annotations

import glob
import itertools
import json
import os
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .. import _maxmargin as native
from .._graphs import FactorGraphSVM
from .._pairwise import GraphSVM
from .._settings import as_json, group_bounds, is_auto, lambda_rule, when_standardised
from ..io import SequenceFile
from ._backend import Backend, WorkerLost
from ._digests import agree, agree_on_names
from ._driver import ATTEMPTS, Driver, Outcome
from ._loads import READERS, Files, Given, Loaded, Part, ReadFile, Several, Structures, bare
from ._worker import Make


def check_backend(backend: Any) -> Backend:
    """Refuses what is not a backend."""
    if not isinstance(backend, Backend):
        raise ValueError(
            f"backend is {backend!r}; give a RayBackend, a DaskBackend or a SerialBackend of "
            "maxmargin.distributed"
        )
    return backend


def refuse_what_is_local(estimator: Any, validation: Any) -> None:
    """Refuses parameters that need all data in one place."""
    wrong = {
        'lam="auto"': is_auto(estimator.lam),
        "validation": validation is not None or estimator.validation is not None,
        "patience": estimator.patience is not None,
        "warm_start": estimator.warm_start,
        "a kernel": getattr(estimator, "kernel", None) is not None,
        "standardise": when_standardised(getattr(estimator, "standardise", False)) == "always",
    }
    for name, is_there in wrong.items():
        if is_there:
            raise ValueError(f"{name} does not go with a backend of more than one worker")


def fit_on_cluster(
    estimator: Any, X: Any, y: Any, sample_weight: Any, validation: Any, **extra: Any
) -> None:
    """Trains an estimator of a ready-made model on its backend."""
    backend = check_backend(estimator.backend)
    files = files_of(X)
    if files is not None:
        if y is not None or sample_weight is not None:
            raise ValueError("labels and weights of files are in the files")
        format = format_of(X)
        if estimator._kind == "chain":
            fit_files(estimator, backend, files, format, validation)
        else:
            fit_loaded(estimator, backend, readers_of(estimator, files, format), validation)
    elif y is None and is_loaded(X):
        if sample_weight is not None or any(value is not None for value in extra.values()):
            raise ValueError("weights of examples that are loaded come with them, as a third item")
        fit_loaded(estimator, backend, loaders_of(X), validation)
    else:
        fit_given(estimator, backend, X, y, sample_weight, validation, extra)


def files_of(X: Any) -> list[str] | None:
    """The files that X names, if it does: a pattern, a list of files, a SequenceFile, or a list of these."""
    if isinstance(X, SequenceFile):
        # It may also be the name of data that ship with the package.
        return sorted(glob.glob(os.fspath(X.path))) or [os.fspath(X.path)]
    if isinstance(X, (str, os.PathLike)):
        pattern = os.fspath(X)
        found = sorted(glob.glob(pattern))
        if not found:
            raise FileNotFoundError(f"there are no files {pattern}")
        return found
    if isinstance(X, (list, tuple)) and X:
        if all(isinstance(x, (str, os.PathLike)) for x in X):
            return [os.fspath(x) for x in X]
        if all(isinstance(x, SequenceFile) for x in X):
            return [os.fspath(x.path) for x in X]
    return None


def format_of(X: Any) -> str | None:
    """The format of the files that X names, if it says one."""
    named = X if isinstance(X, (list, tuple)) else [X]
    formats = {x.format for x in named if isinstance(x, SequenceFile)}
    if len(formats) > 1:
        raise ValueError(f"the files have different formats: {sorted(map(str, formats))}")
    return formats.pop() if formats else None


def spread(count: int, shards: int) -> list[range]:
    """Splits ``count`` things in a row into shards of about the same size."""
    ends = [shard * count // shards for shard in range(shards + 1)]
    return [range(a, b) for a, b in itertools.pairwise(ends)]


def dealt(count: int, shards: int) -> list[range]:
    """So many examples, dealt out to shards like cards. Examples that are alike often follow each other; shards that
    have some of all kinds need fewer rounds.

    >>> dealt(5, 2)
    [range(0, 5, 2), range(1, 5, 2)]
    """
    return [range(shard, count, shards) for shard in range(shards)]


def gathered_dual(duals: list[Any]) -> Any:
    """The dual point of examples that were :func:`dealt`, in the order that they were given in."""
    arrays = [dual.arrays() for dual in duals]
    counts = [len(own[0]) for own in arrays]
    lengths = np.concatenate([np.diff(own[0], prepend=np.uint64(0)) for own in arrays]).astype(int)
    begins = np.cumsum(lengths) - lengths
    parts, masses, losses = (np.concatenate([own[at] for own in arrays]) for at in (1, 2, 3))
    examples = [np.array(own, dtype=int) for own in dealt(sum(counts), len(counts))]
    order = np.argsort(np.concatenate(examples), kind="stable")
    lengths, losses = lengths[order], losses[order]
    ends = np.cumsum(lengths)
    places = np.repeat(begins[order] - (ends - lengths), lengths) + np.arange(lengths.sum())
    ends = ends.astype(np.uint64)
    return native.Dual(duals[0].lambda_, ends, parts[places], masses[places], losses)


def given_parts(extra: dict[str, Any], own: range) -> dict[str, Any]:
    """The items of some examples, of arguments that have one item for each example."""
    return {
        name: value if value is None else _safe_indexing(value, list(own))
        for name, value in extra.items()
    }


def fit_given(
    estimator: Any,
    backend: Backend,
    X: Any,
    y: Any,
    sample_weight: Any,
    validation: Any,
    extra: Any,
) -> None:
    """Trains on examples that are in memory here, and sends each worker its own."""
    if extra.get("lengths") is not None:
        raise ValueError("lengths do not go with a backend; give a list of sequences")
    if y is None and not isinstance(estimator, FactorGraphSVM):
        raise ValueError("y is needed, unless X names files or has functions that load (X, y)")
    parts = dealt(_num_samples(X), min(backend.num_workers, _num_samples(X)))
    every = {**extra, "sample_weight": sample_weight}
    if len(parts) == 1:
        fields = {name: value for name, value in every.items() if value is not None}
        adopt_alone(estimator, run_alone(backend, Given(estimator, X, y, fields, None)))
        return
    refuse_what_is_local(estimator, validation)
    # Prepare all examples here, so that all shards agree on the specification and the names.
    prepared = estimator._prepare(X, y, sample_weight, **extra)
    refuse_soft(prepared)
    spec, bounds = as_json("the model", prepared.spec), json_bounds(prepared.bounds)
    names = prepared.labels, prepared.attributes
    if isinstance(prepared.data, native.GraphData):
        names = prepared.data.names()
    estimator._begin_shards(X, y)
    task = (spec, names[0].list(), names[1].list(), prepared.format, bounds)
    template = getattr(estimator, "_read_template", None)
    fingerprint = native.fingerprint_of(prepared.data)
    # Send each worker its own examples, and train.
    loads = [
        Given(
            estimator,
            _safe_indexing(X, list(own)),
            None if y is None else _safe_indexing(y, list(own)),
            {k: v for k, v in given_parts(every, own).items() if v is not None},
            task,
        )
        for own in parts
    ]
    origin = (*names, prepared.format, fingerprint, template)
    outcome = run(estimator, backend, loads, None)
    outcome.duals = [gathered_dual(outcome.duals)]
    adopt(estimator, outcome, spec, origin, bounds, prepared.exact)


def fit_files(
    estimator: Any, backend: Backend, files: list[str], format: str | None, validation: Any
) -> None:
    """Trains on files of sequences, which the workers read."""
    parts = spread(len(files), min(backend.num_workers, len(files)))
    bounds = json_bounds(group_bounds(estimator.bounds))
    loads = [Files(estimator, [files[at] for at in own], format, bounds) for own in parts]
    if len(loads) == 1:
        adopt_alone(estimator, run_alone(backend, loads[0]))
        return
    refuse_what_is_local(estimator, validation)
    backend.start(makes(backend, loads))
    try:
        found = ask_all(backend, len(loads), "names")
        # The specification needs the labels of all shards.
        spec, labels, attributes, formats, templates = agree_on_names(estimator, found)
        inputs = [estimator._input(name, format, kept=templates) for name in files]
        fingerprint = ask(backend, 0, "fingerprint", inputs)
        names = (spec, labels, attributes, formats, templates)
        outcome = drive(estimator, backend, len(loads), names)
    finally:
        backend.close()
    alphabets = native.Alphabet(labels), native.Alphabet(attributes)
    origin = (*alphabets, formats, fingerprint, templates)
    adopt(estimator, outcome, spec, origin, bounds, False)


def readers_of(estimator: Any, files: list[str], format: str | None) -> list[ReadFile]:
    """Functions that read files, for estimators whose files have a reader."""
    kind = "" if isinstance(estimator, GraphSVM) else estimator._kind
    if kind not in READERS:
        raise ValueError(
            f"files for {type(estimator).__name__} have no reader; give a list of functions that load (X, y)"
        )
    return [ReadFile(kind, name, format) for name in files]


def fit_loaded(estimator: Any, backend: Backend, functions: Any, validation: Any) -> None:
    """Trains on examples that the workers load by themselves."""
    loads = [Loaded(estimator, load) for load in gathered(functions, backend.num_workers)]
    if len(loads) == 1:
        adopt_alone(estimator, run_alone(backend, loads[0]))
        return
    refuse_what_is_local(estimator, validation)
    backend.start(makes(backend, loads))
    try:
        found = ask_all(backend, len(loads), "names")
        task, template, exact = agree(estimator, found)
        names = (bare(estimator), task)
        outcome = drive(estimator, backend, len(loads), names)
    finally:
        backend.close()
    spec, labels, attributes, format, bounds = task
    alphabets = native.Alphabet(labels), native.Alphabet(attributes)
    # Nobody has read all examples in their order, so there is no fingerprint.
    origin = (*alphabets, format, None, template)
    adopt(estimator, outcome, spec, origin, bounds, exact)


def fit_structure_on_cluster(
    estimator: Any, X: Any, y: Any, sample_weight: Any, validation: Any
) -> None:
    """Trains a structure that is defined in Python on its backend."""
    backend = check_backend(estimator.backend)
    if estimator.rescaling != "margin":
        raise ValueError("rescaling='slack' does not go with a backend of more than one worker")
    functions = loaders_of(X) if y is None else None
    is_dealt = functions is None
    if functions is None:
        X, y, weights, _ = estimator._split(list(X), list(y), sample_weight, None)
        parts = dealt(len(X), min(backend.num_workers, len(X)))
        functions = [
            Part([X[i] for i in own], [y[i] for i in own], weights[own.start :: own.step])
            for own in parts
        ]
    else:
        if sample_weight is not None:
            raise ValueError("weights of examples that are loaded come with them, as a third item")
        functions = gathered(functions, backend.num_workers)
    loads = [Structures(estimator, function) for function in functions]
    if len(loads) == 1:
        adopt_alone(estimator, run_alone(backend, loads[0]))
        return
    refuse_what_is_local(estimator, validation)
    outcome = run(estimator, backend, loads, None)
    # Join the dual points of all shards, and fill in what fit leaves behind on one machine.
    estimator._coef = outcome.weights
    if is_dealt:
        estimator.dual_ = gathered_dual(outcome.duals)
    else:
        arrays = [dual.arrays() for dual in outcome.duals]
        ends = np.cumsum(np.concatenate([np.diff(own[0], prepend=0) for own in arrays]))
        rest = [np.concatenate([own[at] for own in arrays]) for at in (1, 2, 3)]
        estimator.dual_ = native.Dual(outcome.lam, ends.astype(np.uint64), *rest)
    passes, calls, seconds = outcome.totals
    about = {
        "solver": "bcfw",
        "examples": len(estimator.dual_),
        "features": len(outcome.weights),
        "certificate": outcome.certificate,
        "status": outcome.status,
        "problem": "structured SVM with margin rescaling",
        "totals": {"passes": passes, "oracle_calls": calls, "seconds": seconds},
        "choice": None,
        "validation": None,
        "warnings": [],
    }
    estimator._about = json.dumps(about)
    estimator._keep_curve(None)
    estimator._note(about, outcome.columns)
    estimator.rounds_ = outcome.rounds
    estimator._warn()


def is_loaded(X: Any) -> bool:
    """Whether X is something that workers load examples from; see :func:`loaders_of`."""
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and all(callable(load) for load in X)
    return is_bag(X) or is_dataset(X)


def is_bag(X: Any) -> bool:
    """Whether X is a bag of Dask."""
    return hasattr(X, "to_delayed") and hasattr(X, "npartitions")


def is_dataset(X: Any) -> bool:
    """Whether X is a dataset of Ray."""
    return hasattr(X, "iter_rows") and hasattr(X, "split")


def loaders_of(X: Any) -> list[Callable[[], Any]]:
    """Functions that load the parts of X: X itself is a list of them, a dataset of Ray, or a bag of Dask. Items of
    the latter two are pairs of input and output, or dictionaries with ``x`` and ``y``."""
    if isinstance(X, (list, tuple)) and X and all(callable(load) for load in X):
        return list(X)
    if is_bag(X):
        return [_Bag(part) for part in X.to_delayed()]
    if is_dataset(X):
        blocks = X.materialize()
        return [_Rows(part) for part in blocks.split(max(1, blocks.num_blocks()))]
    raise ValueError(
        "y is needed, unless X is a list of functions that return (X, y), a dataset of Ray, or a bag of Dask"
    )


class _Bag:
    """A partition of a bag of Dask, which the worker computes itself."""

    def __init__(self, part: Any) -> None:
        self.part = part

    def __call__(self) -> Any:
        return pairs(self.part.compute(scheduler="synchronous"))


class _Rows:
    """A part of a dataset of Ray, whose blocks the worker fetches itself."""

    def __init__(self, part: Any) -> None:
        self.part = part

    def __call__(self) -> Any:
        return pairs(self.part.iter_rows())


def gathered(loads: list[Callable[[], Any]], shards: int) -> list[Callable[[], Any]]:
    """Loaders for at most ``shards`` shards."""
    if len(loads) <= shards:
        return loads
    return [Several([loads[at] for at in own]) for own in spread(len(loads), shards)]


def pairs(items: Any) -> tuple[list[Any], list[Any]]:
    """Inputs and outputs of items that are pairs, or dictionaries with ``x`` and ``y``."""
    X, y = [], []
    for item in items:
        if isinstance(item, dict):
            item = (item["x"], item["y"]) if "x" in item else item["item"]
        X.append(item[0])
        y.append(item[1])
    return X, y


# Running


def makes(backend: Backend, loads: list[Any]) -> list[Make]:
    """The objects that are sent to the engine, which makes workers of them."""
    return [Make(load, at, len(loads), backend.checkpoint) for at, load in enumerate(loads)]


def ask(backend: Backend, shard: int, method: str, *arguments: Any) -> Any:
    """Asks one worker until it answers."""
    for _ in range(ATTEMPTS):
        try:
            return backend.answer(backend.call(shard, method, *arguments))
        except WorkerLost as error:
            last = error
            backend.restart(shard)
    raise last


def ask_all(backend: Backend, shards: int, method: str) -> list[Any]:
    """The answers of all workers, which work at the same time."""
    tickets = [backend.call(shard, method) for shard in range(shards)]
    answers = []
    for shard, ticket in enumerate(tickets):
        try:
            answers.append(backend.answer(ticket))
        except WorkerLost:
            backend.restart(shard)
            answers.append(ask(backend, shard, method))
    return answers


def run_alone(backend: Backend, load: Any) -> Any:
    """Trains on one worker, as one machine does."""
    backend.start(makes(backend, [load]))
    try:
        return ask(backend, 0, "alone")
    finally:
        backend.close()


def run(estimator: Any, backend: Backend, loads: list[Any], names: Any) -> Outcome:
    """Trains on several workers."""
    backend.start(makes(backend, loads))
    try:
        return drive(estimator, backend, len(loads), names)
    finally:
        backend.close()


def drive(estimator: Any, backend: Backend, shards: int, names: Any) -> Outcome:
    """Trains on workers that are there."""
    progress = estimator._progress()
    rule = lambda_rule(estimator.lam, estimator.C)
    driver = Driver(backend, shards, names, estimator.settings, rule, progress)
    try:
        return driver.run()
    finally:
        progress.close()


def json_bounds(bounds: Any) -> str:
    """Bounds on groups of weights."""
    return as_json("bounds", bounds or group_bounds(None))


def refuse_soft(prepared: Any) -> None:
    """Refuses soft training, whose rounds need all messages in one place."""
    if prepared.rounds is not None:
        raise ValueError('training="soft" does not go with a backend of more than one worker')


def adopt_alone(estimator: Any, pickled: bytes) -> None:
    """Takes over what one worker has trained."""
    found = pickle.loads(pickled)
    mine = {name: getattr(estimator, name) for name in ("backend", "callback", "verbose")}
    estimator.__dict__.update(found.__dict__)
    estimator.__dict__.update(mine)
    estimator.rounds_ = []
    estimator._warn()


def adopt(
    estimator: Any, outcome: Outcome, spec: str, origin: Any, bounds: str, exact: bool
) -> None:
    """Makes a model of the result of all shards, and turns the estimator into a fitted one."""
    quality = outcome.certificate.get("quality", "exact")
    if exact and quality != "exact":
        raise ValueError(
            f'training="exact" needs a decoder that is never wrong; this one is {quality}'
        )
    settings = estimator.settings(1.0) | {"lambda": outcome.lam}
    model = native.model_of_shards(
        spec,
        origin,
        as_json("settings", settings),
        bounds,
        outcome.weights,
        outcome.duals,
        as_json("certificate", outcome.certificate),
        outcome.status,
        outcome.totals,
    )
    estimator._keep_curve(None)
    estimator._adopt(model, outcome.columns)
    estimator.rounds_ = outcome.rounds
    estimator._warn()

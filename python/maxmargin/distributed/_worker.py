"""What a worker does with its shard. It runs wherever the cluster engine puts it."""

from __future__ import annotations

import logging
import os
import platform
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _maxmargin as native

logger = logging.getLogger("maxmargin")

#: Weights on their way: all of them, or those that have changed since an earlier message.
Message = tuple[Any, ...]


def pack(tag: int, w: np.ndarray, before: tuple[int, np.ndarray] | None) -> Message:
    """Weights as a message, which is short where most of them are as they were ``before``.

    >>> w = np.zeros(100)
    >>> pack(1, w, None)[:2]
    ('all', 1)
    >>> v = w.copy(); v[3] = 0.5
    >>> kind, tag, base, places, values = pack(2, v, (1, w))
    >>> kind, tag, base, places.tolist(), values.tolist()
    ('some', 2, 1, [3], [0.5])
    """
    if before is not None:
        places = np.flatnonzero(w != before[1])
        if 12 * len(places) < 8 * len(w) and len(w) < 2**32:
            return ("some", tag, before[0], places.astype(np.uint32), w[places])
    return ("all", tag, w)


def aligned(value: Any) -> Any:
    """A message whose arrays the native half can read: engines hand out arrays that begin anywhere in memory."""
    if isinstance(value, np.ndarray):
        return np.require(value, requirements=["C", "A"])
    return type(value)(map(aligned, value)) if isinstance(value, (tuple, list)) else value


def size_of(message: Any) -> int:
    """Bytes of the arrays in a message."""
    if isinstance(message, np.ndarray):
        return int(message.nbytes)
    return sum(map(size_of, message)) if isinstance(message, (tuple, list)) else 8


class ShardWorker:
    """A shard, once its examples are loaded, and what is asked of it.

    Parameters
    ----------
    load : callable
        Returns the shard, given the names that all shards have agreed on. Its method ``names`` tells those of
        this shard alone, if there is anything to agree on.
    index, count : int
        Which shard of how many it is.
    checkpoint : str, optional
        A folder for its checkpoint.
    """

    def __init__(self, load: Any, index: int, count: int, checkpoint: str | None) -> None:
        self.load = load
        self.count = count
        self.file = None
        if checkpoint is not None:
            self.file = f"{checkpoint.rstrip('/')}/shard-{index + 1}-of-{count}.mmshard"
        self.shard: Any = None
        self.started = False
        self.w: tuple[int, np.ndarray] | None = None

    def names(self) -> Any:
        """The names of labels and attributes that are in this shard."""
        return self.load.names()

    def where(self) -> tuple[str, int]:
        """The machine and the process."""
        return platform.node(), os.getpid()

    def alone(self) -> Any:
        """Trains on this shard as one machine does, and returns what has come of it."""
        return self.load.alone()

    def fingerprint(self, inputs: Any) -> str:
        """The fingerprint of all files, one after the other."""
        return native.fingerprint_files(inputs)

    def about(self, names: Any, seed: int | None) -> Any:
        """What has to be known of the examples before the start."""
        self.shard = self.load(names)
        self.started = False
        return self.shard.about(seed)

    def start(self, names: Any, settings: str, lam: float, total_weight: float) -> None:
        """Starts at the checkpoint, or at the truth. Does nothing if the shard has started already."""
        if self.started:
            return
        if self.shard is None:
            self.shard = self.load(names)
        saved = self._read()
        if saved is not None:
            try:
                self.shard.start(settings, lam, total_weight, saved)
            except ValueError as error:
                logger.warning(
                    "%s cannot be used: %s; the shard begins at the truth", self.file, error
                )
                self.shard = self.load(names)
                saved = None
        if saved is None:
            self.shard.start(settings, lam, total_weight)
        self.started = True

    def state(self, fence: int) -> tuple[np.ndarray, float, int]:
        """Weights, loss, and round of the shard; from now on, commits before the round ``fence`` are refused."""
        if fence:
            self._known().fence(fence)
        return self._known().state()

    def propose(self, round: int, message: Message, passes: int) -> Any:
        """What the shard would like to change, and the seconds that took."""
        begin = time.perf_counter()
        found = self._known().propose(round, self._take(message), passes, self.count)
        return found, time.perf_counter() - begin

    def commit(self, round: int, shares: list[float], keep: int) -> float:
        """Moves as far as the coordinator says, writes the checkpoint, and returns the seconds that took. A commit that
        comes again changes nothing."""
        begin = time.perf_counter()
        if self._known().commit(round, shares, keep) and self.file is not None:
            _write(self.file, self._known().to_bytes())
        return time.perf_counter() - begin

    def check(self, message: Message) -> Any:
        """An exact pass."""
        return self._known().check(self._take(message))

    def dual(self, lam: float) -> Any:
        """The dual point of the shard, as the arrays of a :class:`Dual`."""
        return self._known().dual(lam).__getnewargs__()

    def _known(self) -> Any:
        if not self.started:
            from ._backend import WorkerLost

            raise WorkerLost("the worker was started anew")
        return self.shard

    def _take(self, message: Message) -> np.ndarray:
        kind, tag, *rest = aligned(message)
        if kind == "all":
            w = np.asarray(rest[0])
        else:
            base, places, values = rest
            if self.w is None or self.w[0] != base:
                from ._backend import WorkerLost

                raise WorkerLost("the worker was started anew")
            w = self.w[1].copy()
            w[places] = values
        self.w = (tag, w)
        return w

    def _read(self) -> bytes | None:
        if self.file is None:
            return None
        try:
            with _open(self.file, "rb") as file:
                return bytes(file.read())
        except FileNotFoundError:
            return None


def _open(path: str, mode: str) -> Any:
    if "://" not in path:
        return open(path, mode)
    import fsspec

    return fsspec.open(path, mode).open()


def _write(path: str, content: bytes) -> None:
    """Writes a file under a temporary name and renames it, so that it is whole or not there."""
    if "://" in path:
        import fsspec

        system, inside = fsspec.core.url_to_fs(path)
        system.pipe(inside + ".new", content)
        system.mv(inside + ".new", inside)
        return
    folder = os.path.dirname(path) or "."
    os.makedirs(folder, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder, suffix=".new")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


class Make:
    """Makes a worker: what is sent to the engine."""

    def __init__(
        self, load: Callable[[Any], Any], index: int, count: int, checkpoint: str | None
    ) -> None:
        self.arguments = (load, index, count, checkpoint)

    def __call__(self) -> ShardWorker:
        return ShardWorker(*self.arguments)

"""What a cluster engine has to do for us, and a backend without an engine: shards that take turns in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._worker import ShardWorker

#: What makes a shard: a function of no arguments that returns a worker, see :class:`ShardWorker`.
Source = Any


class ClusterError(RuntimeError):
    """A training on a cluster that cannot go on."""


class WorkerLost(ClusterError):
    """A worker that has gone before it answered. The training goes on without its last answer."""


class Backend:
    """The parent of all backends: it knows how shards are spread, and the engine carries calls to them.

    Parameters
    ----------
    num_workers : int
        The number of shards. With one, the training is that of one machine, bit by bit.
    checkpoint : str, optional
        A folder that all workers can reach, in which each keeps its shard: a path, or an address such as
        ``s3://…`` if fsspec is installed. A worker that is started anew goes on from there, and so does a
        training that is started anew with the same data. Without it, a lost shard begins again.
    local_passes : int or "auto", default="auto"
        Passes over its examples that a shard makes in a round, after the exact pass with which a round begins.
        ``"auto"`` takes the number that has closed the most of the gap for its work. Work is counted in passes, so that
        runs repeat.
    check_every : int, default=5
        The gap is computed exactly every so many rounds, which takes one more pass, and as soon as it seems to be
        small enough.
    max_losses : int, default=100
        Training ends with an error after so many losses of workers.
    """

    def __init__(
        self,
        num_workers: int = 2,
        *,
        checkpoint: str | None = None,
        local_passes: int | str = "auto",
        check_every: int = 5,
        max_losses: int = 100,
    ) -> None:
        for name, value in (
            ("num_workers", num_workers),
            ("local_passes", 1 if local_passes == "auto" else local_passes),
            ("check_every", check_every),
        ):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {value!r}; it must be a whole number, at least 1")
        self.num_workers = num_workers
        self.checkpoint = checkpoint
        self.local_passes = local_passes
        self.check_every = check_every
        self.max_losses = max_losses

    def start(self, sources: Sequence[Source]) -> None:
        """Makes a worker of each source, somewhere."""
        raise NotImplementedError

    def put(self, value: Any) -> Any:
        """Prepares a value that is sent to all workers. A call that is given the returned object sees the value."""
        return value

    def call(self, shard: int, method: str, *arguments: Any) -> Any:
        """Begins to call a method of a worker, and returns a ticket for its answer."""
        raise NotImplementedError

    def answer(self, ticket: Any) -> Any:
        """Waits for an answer. Raises :class:`WorkerLost` if there will be none, and whatever the method has
        raised."""
        raise NotImplementedError

    def restart(self, shard: int) -> None:
        """Makes the worker of a shard anew if it has gone. The new worker knows nothing yet."""
        raise NotImplementedError

    def close(self) -> None:
        """Lets all workers go."""


class SerialBackend(Backend):
    """Shards that take turns in this process. This is not faster than one machine. Use it to try things out, to count
    rounds and bytes for more shards than there are machines, and in tests.

    >>> SerialBackend(num_workers=4).num_workers
    4
    """

    def start(self, sources: Sequence[Source]) -> None:
        self._sources = list(sources)
        self._workers: list[ShardWorker | None] = [source() for source in sources]

    def call(self, shard: int, method: str, *arguments: Any) -> Any:
        return shard, method, arguments

    def answer(self, ticket: Any) -> Any:
        shard, method, arguments = ticket
        worker = self._workers[shard]
        if worker is None:
            raise WorkerLost(f"worker {shard} was lost")
        return getattr(worker, method)(*arguments)

    def restart(self, shard: int) -> None:
        if self._workers[shard] is None:
            self._workers[shard] = self._sources[shard]()

    def lose(self, shard: int) -> None:
        """Loses a worker, as a test."""
        self._workers[shard] = None

    def close(self) -> None:
        self._workers = []

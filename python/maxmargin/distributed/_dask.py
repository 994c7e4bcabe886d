"""Workers on Dask. Nothing is decided here; the driver is in ``_driver.py``."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Sequence
from typing import Any

from ._backend import Backend, ClusterError, Source, WorkerLost

#: The workers of this process, by training and shard.
_here: dict[tuple[str, int], Any] = {}


class DaskBackend(Backend):
    """Shards in the processes of Dask's workers; those of a worker that has died go to another one.

    Parameters
    ----------
    num_workers, checkpoint, local_passes, check_every, max_losses
        As in :class:`Backend`.
    address : str, optional
        The scheduler, such as ``"tcp://host:8786"``. Without it, the client that is there already is used, or a
        cluster on this machine.
    patience : float, default=60
        Seconds to wait for a worker if there is none at all.
    """

    def __init__(
        self,
        num_workers: int = 2,
        *,
        address: str | None = None,
        patience: float = 60.0,
        **shared: Any,
    ) -> None:
        super().__init__(num_workers, **shared)
        self.address = address
        self.patience = patience

    def start(self, sources: Sequence[Source]) -> None:
        try:
            import distributed
        except ImportError:
            raise ImportError("DaskBackend needs Dask: pip install 'maxmargin[dask]'") from None
        self._own = None
        try:
            found = distributed.Client(self.address) if self.address else distributed.get_client()
        except ValueError:
            found = distributed.Client(n_workers=self.num_workers, threads_per_worker=1)
            self._own = found
        self._client: Any = found
        self._training = uuid.uuid4().hex
        self._sources = list(sources)
        self._places: list[str | None] = [None] * len(sources)
        for shard in range(len(sources)):
            self.restart(shard)

    def _workers(self) -> list[str]:
        return list(self._client.nthreads())

    def put(self, value: Any) -> Any:
        # Send the value itself: a future would be lost with the worker that holds it.
        return value

    def call(self, shard: int, method: str, *arguments: Any) -> Any:
        place = self._places[shard]
        at = (self._training, shard)
        future = self._client.submit(
            _call, at, method, arguments, workers=[place], pure=False, retries=0
        )
        return future, place

    def answer(self, ticket: Any) -> Any:
        future, place = ticket
        missing = 0
        while not future.done():
            # A task that is bound to one worker waits forever if that worker has gone.
            missing = 0 if place in self._workers() else missing + 1
            if missing > 1:
                future.cancel()
                raise WorkerLost(f"the worker {place} was lost")
            _wait(future)
        if future.status != "finished":
            error = future.exception()
            if error is None or type(error).__module__.startswith("distributed"):
                raise WorkerLost(f"the worker {place} was lost") from error
            raise error
        return future.result()

    def restart(self, shard: int) -> None:
        until = time.monotonic() + self.patience
        while self._places[shard] not in (present := self._workers()):
            if present:
                taken = [present.count(place) and self._places.count(place) for place in present]
                self._places[shard] = present[taken.index(min(taken))]
            elif time.monotonic() > until:
                raise ClusterError("there are no workers")
            else:
                time.sleep(0.1)
        self.answer(self._client_make(shard))

    def _client_make(self, shard: int) -> Any:
        place, at = self._places[shard], (self._training, shard)
        source = self._sources[shard]
        return self._client.submit(_make, at, source, workers=[place], pure=False), place

    def close(self) -> None:
        if getattr(self, "_client", None) is None:
            return
        self._client.run(_forget, self._training)
        if self._own is not None:
            self._own.close()


def _wait(future: Any) -> None:
    import distributed

    with contextlib.suppress(distributed.TimeoutError):
        distributed.wait(future, timeout=0.2)


def _make(at: tuple[str, int], source: Source) -> None:
    if at not in _here:
        _here[at] = source()


def _call(at: tuple[str, int], method: str, arguments: tuple[Any, ...]) -> Any:
    if at not in _here:
        from ._backend import WorkerLost

        raise WorkerLost("the worker was started anew")
    return getattr(_here[at], method)(*arguments)


def _forget(training: str) -> None:
    for at in [at for at in _here if at[0] == training]:
        del _here[at]

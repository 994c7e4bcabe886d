"""Workers on Ray. Nothing is decided here; the driver is in ``_driver.py``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._backend import Backend, ClusterError, Source, WorkerLost


class RayBackend(Backend):
    """Shards as actors of Ray, which restarts those that die.

    Parameters
    ----------
    num_workers, checkpoint, local_passes, check_every, max_losses
        As in :class:`Backend`.
    address : str, optional
        The cluster, as ``ray.init`` takes it: ``"auto"``, ``"ray://host:10001"``. Without it, a cluster on this
        machine is used, unless Ray has been initialised before.
    actor_options : dict, optional
        What Ray should know of each worker: ``num_cpus``, ``memory``, ``resources``, ``runtime_env``. By default
        Ray gives a worker one core; use ``num_cpus`` for more, and ``n_jobs`` of the estimator.
    """

    def __init__(
        self,
        num_workers: int = 2,
        *,
        address: str | None = None,
        actor_options: dict[str, Any] | None = None,
        **shared: Any,
    ) -> None:
        super().__init__(num_workers, **shared)
        self.address = address
        self.actor_options = actor_options

    def start(self, sources: Sequence[Source]) -> None:
        try:
            import ray
        except ImportError:
            raise ImportError("RayBackend needs Ray: pip install 'maxmargin[ray]'") from None
        self._ray: Any = ray
        if not ray.is_initialized():
            ray.init(address=self.address, log_to_driver=False)
        options = {"num_cpus": 1, **(self.actor_options or {})}
        # Ray restarts an actor that has died. The driver decides whether its last call is repeated.
        options |= {"max_restarts": -1, "max_task_retries": 0}
        actor = ray.remote(_Actor).options(**options)
        self._actors = [actor.remote(source) for source in sources]

    def put(self, value: Any) -> Any:
        return self._ray.put(value)

    def call(self, shard: int, method: str, *arguments: Any) -> Any:
        return self._actors[shard].call.remote(method, *arguments)

    def answer(self, ticket: Any) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(ticket)
        except errors.ActorUnschedulableError:
            raise
        except errors.RayActorError as error:
            told = str(error)
            if "creation task" in told:
                raise ClusterError(
                    "a worker could not be made; is maxmargin installed on all machines, in this "
                    f"version? (runtime_env in actor_options can do that.) {told}"
                ) from error
            raise WorkerLost(told.splitlines()[0]) from error
        except (errors.ObjectLostError, errors.WorkerCrashedError) as error:
            raise WorkerLost(str(error).splitlines()[0]) from error
        except errors.RayTaskError as error:
            raise error.as_instanceof_cause() from None

    def restart(self, shard: int) -> None:
        """Nothing: Ray does it."""

    def close(self) -> None:
        for actor in getattr(self, "_actors", []):
            self._ray.kill(actor)
        self._actors = []


class _Actor:
    def __init__(self, source: Source) -> None:
        self.worker = source()

    def call(self, method: str, *arguments: Any) -> Any:
        return getattr(self.worker, method)(*arguments)

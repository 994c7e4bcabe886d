"""Engines for the tests, and examples that are learned in a moment."""

import os
import signal
import time

import numpy as np
import pytest

from maxmargin.distributed import DaskBackend, RayBackend


def words(count=40, seed=0):
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(count):
        length = int(rng.integers(2, 6))
        tags = rng.integers(0, 3, size=length)
        noise = rng.integers(0, 4, size=length)
        X.append([{f"w={t}{n}": 1.0, "bias": 0.5} for t, n in zip(tags, noise, strict=True)])
        y.append(["ABC"[t] for t in tags])
    return X, y


class Killing:
    """Kills workers when a plan says so: (method, how often it was called, shard) and the moment, which is before,
    during or after the call."""

    def __init__(self, *given, plan=(), hook=None, **named):
        super().__init__(*given, **named)
        self.plan, self.hook, self.counts, self.killed = dict(plan), hook, {}, 0
        self.pids = {}

    def kill(self, shard):
        os.kill(self.pids[shard], signal.SIGKILL)
        self.killed += 1
        if self.hook is not None:
            self.hook(shard)

    def pid(self, shard):
        """The process of a worker, which may just be starting anew."""
        if shard not in self.pids:
            self.pids[shard] = super().answer(super().call(shard, "where"))[1]

    def call(self, shard, method, *arguments):
        key = (method, shard)
        self.counts[key] = self.counts.get(key, 0) + 1
        moment = self.plan.pop((method, self.counts[key], shard), None)
        if moment is not None:
            self.pid(shard)
        if moment == "before":
            self.kill(shard)
        ticket = super().call(shard, method, *arguments)
        if moment == "during":
            self.kill(shard)
        return (ticket, shard, moment)

    def answer(self, ticket):
        # Backends also wait for tickets of their own.
        own = isinstance(ticket, tuple) and len(ticket) == 3
        ticket, shard, moment = ticket if own else (ticket, None, None)
        found = super().answer(ticket)
        if moment == "after":
            self.kill(shard)
            time.sleep(0.2)
        return found


class KillingRay(Killing, RayBackend):
    pass


class KillingDask(Killing, DaskBackend):
    pass


@pytest.fixture(scope="session")
def ray():
    import ray

    ray.init(
        num_cpus=3,
        include_dashboard=False,
        _node_ip_address="127.0.0.1",
        log_to_driver=False,
        object_store_memory=100 * 2**20,
    )
    yield ray
    ray.shutdown()


@pytest.fixture(scope="session")
def dask():
    import distributed

    cluster = distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    )
    client = distributed.Client(cluster)
    yield client
    client.close()
    cluster.close()

"""Training on several machines: the estimators of this package on Ray, on Dask, or in turn on this machine.

>>> from maxmargin import ChainSVM
>>> from maxmargin.distributed import SerialBackend
>>> X = [[["the"], ["cat"]], [["cats"], ["purr"]], [["the"], ["cats"]]]
>>> y = [["DET", "NOUN"], ["NOUN", "VERB"], ["DET", "NOUN"]]
>>> model = ChainSVM(lam=0.1, backend=SerialBackend(num_workers=3)).fit(X, y)
>>> model.certificate_.quality, model.certificate_.gap < 0.1 * model.certificate_.primal
('exact', True)
>>> model.verify(X, y)
[]

A cluster engine carries the messages: :class:`RayBackend` needs ``pip install maxmargin[ray]``,
:class:`DaskBackend` ``pip install maxmargin[dask]``. :class:`SerialBackend` needs nothing: it lets shards take
turns in this process, to try things out and to count rounds.
"""

from __future__ import annotations

from ._backend import Backend, ClusterError, SerialBackend, WorkerLost
from ._dask import DaskBackend
from ._ray import RayBackend
from ._report import write_rounds

__all__ = [
    "Backend",
    "ClusterError",
    "DaskBackend",
    "RayBackend",
    "SerialBackend",
    "WorkerLost",
    "write_rounds",
]

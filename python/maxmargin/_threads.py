"""How many threads work. Decoders need no more, and import nothing that takes long."""

from __future__ import annotations

import os


def threads(n_jobs: int | None) -> int:
    """Threads for scikit-learn's ``n_jobs``; 0 means all cores."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, str) or n_jobs != int(n_jobs):
        raise ValueError(f"n_jobs is {n_jobs!r}; it must be a whole number, -1 for all cores")
    n_jobs = int(n_jobs)
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning; use -1 for all cores")
    if n_jobs < 0:
        return max(1, (os.cpu_count() or 1) + 1 + n_jobs) if n_jobs != -1 else 0
    return n_jobs

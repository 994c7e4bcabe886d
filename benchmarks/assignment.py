"""Assignments: the time of maxmargin's solver against SciPy's linear_sum_assignment.

    cargo build --release -p maxmargin-lab -F benchmarks --bin assignment
    python benchmarks/assignment.py TARGET/release/assignment [ROUNDS]

Both solve the same tables, written to a file here and read back by both, and must agree in the sum of
the least costs. Times are processor times, of half a second each ROUNDS (9) times in turns, so that both see
the same disturbances; the ratio is that of the medians. SciPy's time is that of its
calls from Python on ready arrays: for small tables much of it is the way there and back.
"""

import os
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy
from scipy.optimize import linear_sum_assignment


def kinds():
    """Name and tables of costs of each kind."""
    rng = np.random.default_rng(1)

    def sentence(rows, columns):
        """Like a pair of sentences: words near the diagonal that go together, and noise."""
        r = (np.arange(rows)[:, None] + 0.5) / rows
        c = (np.arange(columns)[None, :] + 0.5) / columns
        return np.abs(r - c) - rng.beta(0.3, 2.0, size=(rows, columns))

    lengths = rng.integers(5, 41, size=(400, 2))
    yield "sentences, 5 to 40 words", [sentence(a, b) for a, b in lengths]
    yield "20 × 20, uniform", [rng.random((20, 20)) for _ in range(400)]
    yield "20 × 20, 0/1 (ties)", [rng.integers(0, 2, (20, 20)).astype(float) for _ in range(400)]
    yield "500 × 500, uniform", [rng.random((500, 500)) for _ in range(5)]
    yield "500 × 500, integers to 100", [
        rng.integers(0, 100, (500, 500)).astype(float) for _ in range(5)
    ]
    yield "500 × 500, r·c (hard)", [
        np.outer(np.arange(1.0, 501.0), np.arange(1.0, 501.0)) + rng.random((500, 500))
        for _ in range(1)
    ]
    yield "400 × 600, uniform", [rng.random((400, 600)) for _ in range(5)]
    yield "600 × 400, uniform", [rng.random((600, 400)) for _ in range(5)]


def main():
    program = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    print(f"SciPy {scipy.__version__}, NumPy {np.__version__}, Python {sys.version.split()[0]}\n")
    print("| tables | ours, µs each | SciPy, µs each | ratio of medians | ratios per round |")
    print("|---|---|---|---|---|")
    for name, tables in kinds():
        with tempfile.NamedTemporaryFile(suffix=".tables", delete=False) as file:
            for table in tables:
                file.write(struct.pack("<II", *table.shape))
                file.write(np.ascontiguousarray(table, dtype="<f8").tobytes())
        try:
            ours, theirs = [], []
            for _ in range(rounds):
                out = subprocess.run(
                    [program, file.name, "1"], capture_output=True, text=True, check=True
                ).stdout.split()
                ours.append(float(out[0]))
                best = float(out[2])
                total = sum(table[linear_sum_assignment(table)].sum() for table in tables)
                wall, begin, count = time.perf_counter(), time.thread_time(), 0
                while time.perf_counter() - wall < 0.5:
                    for table in tables:
                        linear_sum_assignment(table)
                    count += 1
                theirs.append((time.thread_time() - begin) / count)
                assert abs(total - best) <= 1e-9 * max(1.0, abs(total)), (name, total, best)
        finally:
            os.unlink(file.name)
        ratios = sorted(a / b for a, b in zip(ours, theirs))
        a, b = np.median(ours) / len(tables), np.median(theirs) / len(tables)
        print(
            f"| {name} | {1e6 * a:.1f} | {1e6 * b:.1f} | **{a / b:.2f}** "
            f"| {ratios[0]:.2f} to {ratios[-1]:.2f} |"
        )


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What averaging and the tolerance do to held-out errors at the default lambda, and what they cost.

    python benchmarks/lambda_scale.py prepare FOLDER DATA    # once: the cuts of real training data
    python benchmarks/averages.py prepare FOLDER             # once: synthetic data near the trivial objective
    python benchmarks/averages.py run FOLDER PROGRAM [DATA ...]
    python benchmarks/averages.py table FOLDER

FOLDER keeps all runs, so that `run` can be cut and resumed. No test data take part. A row of the table is the mean
over the cuts of one data set and over the seeds of training. Errors are Hamming errors; the balanced measure is macro F1, except for
alignments (1 - AER), superpixels (balanced accuracy) and poses (1 - error). Seconds are CPU seconds, comparable within a row.
"""

import itertools
import json
import math
import os
import random
import resource
import subprocess
import sys
from pathlib import Path

from lambda_scale import TASKS, parts

#: How often each synthetic data set is drawn.
DRAWS = 4
#: The seeds of training.
SEEDS = (1, 2, 3)
#: Synthetic data: what is drawn, and the options to train with.
SYNTHETIC = {
    "rows-weak": ["--format", "libsvm"],
    "rows-noise": ["--format", "libsvm"],
    "rows-rare": ["--format", "libsvm"],
    "rows-three": ["--format", "libsvm"],
    "rows-many": ["--format", "libsvm"],
    "sets-rare": ["--format", "multilabel"],
    "chains-weak": ["--format", "crfsuite"],
    "chains-rare": ["--format", "crfsuite"],
    "chains-noise": ["--format", "crfsuite"],
    "chains-many": ["--format", "crfsuite"],
}
CHOICES = (("none", "1%"), ("weighted", "5%"), ("weighted", "10%"), ("none", "5%"))


def row(label, values):
    return f"{label} " + " ".join(f"{j + 1}:{v:.5g}" for j, v in enumerate(values))


def draw_rows(rng, name, n):
    """Rows of 20 numbers, five of which know a little of the class."""
    priors, shift, flipped = {
        "rows-weak": ([0.85, 0.15], 0.4, 0.0),
        "rows-noise": ([0.5, 0.5], 0.8, 0.3),
        "rows-rare": ([0.95, 0.05], 1.0, 0.0),
        "rows-three": ([0.8, 0.15, 0.05], 0.7, 0.05),
        "rows-many": ([0.85, 0.15], 0.7, 0.05),
    }[name]
    for _ in range(n):
        label = rng.choices(range(len(priors)), priors)[0]
        values = [rng.gauss(shift * (1 if j % len(priors) == label else 0), 1) if j < 5 * len(priors) else rng.gauss(0, 1)
                  for j in range(20)]
        if rng.random() < flipped:
            label = rng.randrange(len(priors))
        yield [row(label, values)]


def draw_sets(rng, n):
    """Twenty labels, each of which one row in fifteen has, with one weak attribute each."""
    for _ in range(n):
        labels = [k for k in range(20) if rng.random() < 1 / 15]
        values = [rng.gauss(1.2 if j in labels else 0.0, 1) for j in range(30)]
        yield [row(",".join(map(str, labels)), values)]


def draw_chains(rng, name, n):
    """Chains of words: each label prefers its own words, and words of every label occur under every label."""
    common, share, flipped = {
        "chains-weak": (0.85, 0.25, 0.0),
        "chains-rare": (0.95, 0.6, 0.0),
        "chains-noise": (0.6, 0.5, 0.3),
        "chains-many": (0.88, 0.75, 0.05),
    }[name]
    labels = ["O", "A", "B", "C"]
    for _ in range(n):
        label, lines = "O", []
        for _ in range(rng.randrange(5, 16)):
            if rng.random() < 0.5:
                label = rng.choices(labels, [common, *[(1 - common) / 3] * 3])[0]
            own = label if rng.random() < share else rng.choice(labels)
            word = f"{own}{int(50 * rng.random() ** 2)}"
            seen = rng.choice(labels) if rng.random() < flipped else label
            lines.append(f"{seen}\tb\tw={word}\tc={rng.randrange(300)}")
        yield lines


def prepare(folder):
    for name in SYNTHETIC:
        for seed in range(DRAWS):
            rng = random.Random(f"{name} {seed}")
            for part, n in (("train", 4000 if name.endswith("many") else 400), ("held", 4000)):
                if name.startswith("rows"):
                    found = draw_rows(rng, name, n)
                elif name.startswith("sets"):
                    found = draw_sets(rng, n)
                else:
                    found = draw_chains(rng, name, n // 2)
                end = "\n" if name.startswith("chains") else ""
                (folder / f"{name}-{seed}.{part}").write_text("".join("\n".join(g) + "\n" + end for g in found))


def options(task):
    return TASKS[task][0] if task in TASKS else SYNTHETIC[task[:-2]]


def data_of(task):
    return task[:-2] if task[-1].isdigit() and task[-2] == "-" else task


def measure(folder, program, task, average, tolerance, seed):
    name = task.split(":")[0]
    model = str(folder / f"averages-{os.getpid()}.model")
    command = [program, "train", str(folder / f"{name}.train"), "-q", "--json", "-o", model, *options(task)]
    command += ["--average", average, "--tolerance", tolerance, "--seed", str(seed)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    held = str(folder / f"{name}.held")
    judged = json.loads(subprocess.run([program, "evaluate", model, held, "--json"], capture_output=True, text=True, check=True).stdout)
    if "aer" in judged:
        balanced = 1 - judged["aer"]
    elif "balanced_accuracy" in judged:
        balanced = judged["balanced_accuracy"]
    elif "labels" not in judged:
        balanced = 1 - judged["hamming"]
    else:
        each = judged["labels"]["each"].values()
        balanced = sum(label["f1"] for label in each if label["true"]) / max(1, sum(1 for label in each if label["true"]))
    return {"task": task, "average": average, "tolerance": tolerance, "seed": seed, "lambda": found["lambda"], "status": found["status"],
            "primal": found["primal"], "gap": found["gap"], "passes": found["passes"], "error": judged["hamming"], "balanced": balanced,
            "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def known(folder):
    path = folder / "averages.jsonl"
    runs = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {(r["task"], r["average"], r["tolerance"], r["seed"]): r for r in runs}


def run(folder, program, wanted):
    tasks = [*TASKS, *(f"{name}-{draw}" for name in SYNTHETIC for draw in range(DRAWS))]
    done = known(folder)
    for task in tasks:
        if wanted and data_of(task) not in wanted and task not in wanted:
            continue
        for choice in itertools.product(CHOICES, SEEDS):
            (average, tolerance), seed = choice
            if (task, average, tolerance, seed) not in done:
                found = measure(folder, program, task, average, tolerance, seed)
                with (folder / "averages.jsonl").open("a") as file:
                    file.write(json.dumps(found) + "\n")
                print(f"{task:20} {average:8} {tolerance:4} {100 * found['error']:6.2f} % {100 * found['balanced']:6.2f} "
                      f"{found['cpu']:6.2f} s {found['status']}", flush=True)


def table(folder):
    runs = known(folder)
    groups = {}
    for task, *_ in runs:
        groups.setdefault(data_of(task), {})[task] = None
    print("| data | ± | " + " | ".join(f"{a}, {t.replace('%', ' %')}" for a, t in CHOICES) + " |")
    print("|---|---|" + "---|" * len(CHOICES))
    worse, cost = {}, {}
    for name, tasks in groups.items():
        means = []
        for choice in CHOICES:
            of = [runs[key] for key in itertools.product(tasks, *([c] for c in choice), SEEDS) if key in runs]
            if len(of) == len(tasks) * len(SEEDS):
                means.append([sum(run[key] for run in of) / len(of) for key in ("error", "balanced", "cpu")])
        if len(means) < len(CHOICES):
            continue
        error = means[0][0]
        deviation = math.sqrt(max(error, 1e-9) * (1 - error) / sum(parts(folder, task) for task in tasks))
        worse[name] = [(mean[0] - error) / deviation for mean in means]
        cost[name] = [mean[2] / max(means[0][2], 1e-3) for mean in means]
        cells = (f"{100 * e:.2f} · {100 * b:.2f} ({cpu:.2f} s)" for e, b, cpu in means)
        print(f"| {name} | {100 * deviation:.2f} | " + " | ".join(cells) + " |")
    for title, values in (("mean difference of errors, in ±", worse), ("mean ratio of CPU seconds", cost)):
        mean = [sum(column) / len(column) for column in zip(*values.values())]
        print(f"| {title} | | " + " | ".join(f"{value:.2f}" for value in mean) + " |")
    print("| largest difference of errors, in ± | | " + " | ".join(f"{max(c):.2f}" for c in zip(*worse.values())) + " |")


def main():
    verb, folder, *rest = sys.argv[1:]
    folder = Path(folder)
    if verb == "prepare":
        prepare(folder)
    elif verb == "run":
        run(folder, rest[0], rest[1:])
    elif verb == "table":
        table(folder)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Which value the constant features of chains should have, by held-out errors on parts of training data.

    python benchmarks/lambda_scale.py prepare FOLDER DATA    # once: the cuts of real training data
    python benchmarks/averages.py prepare FOLDER             # once: synthetic chains
    python benchmarks/constant_value.py prepare FOLDER       # once: more cuts of the same training data
    python benchmarks/constant_value.py run FOLDER PROGRAM [TASK ...]
    python benchmarks/constant_value.py table FOLDER

Transitions, biases, first and last labels have the value 1 in any units. To give them the value k is the same as to divide
all attributes by k, so any version of the program can be measured: `run` writes scaled copies of the data. The rule is
k^2 = rho * (mean squared length of a token's attributes, centred); rho = 0 stands for k = 1. Each rho is trained at
the lambda of the rule and at multiples of it, 6/c. No test data take part.
"""

import json
import math
import os
import random
import subprocess
import sys
from pathlib import Path

from attribute_scale import expand
from lambda_scale import blocks

RHOS = (0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 2.0)
REACHES = (4, 6, 9)
REFERENCE = 6
TASKS = [
    *(f"ocr-{k}" for k in range(9)),
    *(f"chunka-200-{k}" for k in range(4)), *(f"pos-200-{k}" for k in range(4)),
    *(f"chunka-1000-{k}" for k in range(2)), *(f"pos-1000-{k}" for k in range(2)),
    *(f"chains-{kind}-{k}" for kind in ("weak", "rare", "noise", "many") for k in range(2)),
    "chunka-8000", "pos-8000",
]


def family(task):
    return "chains" if task.startswith("chains") else task.split("-")[0]


def group(task):
    """All cuts of one size."""
    return task.rsplit("-", 1)[0] if task.count("-") == 2 or task.startswith("ocr") else task


def prepare(folder):
    rng = random.Random(11)

    def sequences(name):
        return ["\n".join(lines) for lines in blocks((folder / name).read_text().splitlines())]

    def write(name, part, found):
        (folder / f"{name}.{part}").write_text("".join(text + "\n\n" for text in found))

    words = sequences("ocr-0.train") + sequences("ocr-0.held")
    for k in range(3, 9):
        rng.shuffle(words)
        at = len(words) // 4
        write(f"ocr-{k}", "held", words[:at])
        write(f"ocr-{k}", "train", words[at:])
    for task in ("chunka-8000", "pos-8000"):
        if not (folder / f"{task}.train").exists():
            expand(folder, task)
        kind, all_of, held = task.split("-")[0], sequences(f"{task}.train"), sequences(f"{task}.held")
        for n, cuts in ((200, 4), (1000, 2)):
            for k in range(cuts):
                write(f"{kind}-{n}-{k}", "train", all_of[1000 * k : 1000 * k + n])
                write(f"{kind}-{n}-{k}", "held", held)


def tokens(path):
    """The attributes of each token; all files of `prepare` have the value 1 throughout."""
    found = []
    for line in path.read_text().splitlines():
        label, *own = line.split("\t")
        found.append((label, [(name, 1.0) for name in own]) if line.strip() else None)
    return found


def lengths(found):
    """The mean squared length of a token's attributes: as they are, and centred except for constants."""
    sums, squares, counts, rows = {}, {}, {}, 0
    for token in filter(None, found):
        rows += 1
        for name, value in token[1]:
            sums[name] = sums.get(name, 0.0) + value
            squares[name] = squares.get(name, 0.0) + value * value
            counts[name] = counts.get(name, 0) + 1
    whole = sum(squares.values()) / rows
    centred = sum(s if counts[a] == rows else s - sums[a] ** 2 / rows for a, s in squares.items()) / rows
    return whole, centred


def known(folder):
    path = folder / "constant_value.jsonl"
    runs = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {(r["task"], r["rho"], r["reach"]): r for r in runs}


def train(folder, program, task, options):
    files = [str(folder / f"scaled-{os.getpid()}.{part}") for part in ("train", "held")]
    command = [program, "train", files[0], "--test", files[1], "-q", "--json", "--format", "crfsuite", "--threads", "1"]
    command += ["--max-seconds", "300", *options]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def run(folder, program, tasks):
    done = known(folder)
    for task in tasks or TASKS:
        rhos = RHOS
        reaches = REACHES if not task.endswith("8000") else (6,)
        if all((task, rho, reach) in done for rho in rhos for reach in reaches):
            continue
        parts = {part: tokens(folder / f"{task}.{part}") for part in ("train", "held")}
        whole, centred = lengths(parts["train"])
        for rho in rhos:
            if all((task, rho, reach) in done for reach in reaches):
                continue
            scale = 1.0 if rho == 0 else 1.0 / math.sqrt(rho * centred)
            for part, found in parts.items():
                text = "".join(
                    "\n" if token is None else "\t".join([token[0], *(f"{a}:{scale * v:.9g}" for a, v in token[1])]) + "\n"
                    for token in found)
                (folder / f"scaled-{os.getpid()}.{part}").write_text(text + "\n")
            rule = None
            for reach in sorted(reaches, key=lambda c: c != REFERENCE):
                options = [] if reach == REFERENCE else ["--lambda", repr(rule * REFERENCE / reach)]
                found = train(folder, program, task, options)
                rule = rule or found["lambda"]
                record = {"task": task, "rho": rho, "reach": reach, "whole": whole, "centred": centred,
                          "lambda": found["lambda"], "error": found["test"]["hamming"], "passes": found["passes"],
                          "status": found["status"], "tokens": sum(t is not None for t in parts["held"])}
                done[task, rho, reach] = record
                with (folder / "constant_value.jsonl").open("a") as file:
                    file.write(json.dumps(record) + "\n")
        cells = " | ".join(f"{100 * done[task, rho, 6]['error']:.2f}" for rho in rhos)
        print(f"| {task} ({whole:.1f}, {centred:.1f}) | {cells} |", flush=True)


def table(folder):
    done = known(folder)
    settings = [(rho, reach) for reach in REACHES for rho in RHOS]
    groups = {}
    for task in TASKS:
        groups.setdefault(group(task), []).append(task)
    lost = {}
    for reach in REACHES:
        print(f"\nc = {reach}\n\n| data | " + " | ".join(f"rho = {rho:g}" if rho else "k = 1" for rho in RHOS) + " |")
        print("|---|" + "---|" * len(RHOS))
        for name, tasks in groups.items():
            tasks = [t for t in tasks if all((t, rho, 6) in done for rho in RHOS)]
            if not tasks:
                continue

            def error(rho, c):
                if (tasks[0], rho, c) not in done:
                    return math.nan
                return sum(done[t, rho, c]["error"] for t in tasks) / len(tasks)

            values = {s: error(*s) for s in settings}
            best = min(v for v in values.values() if not math.isnan(v))
            deviation = math.sqrt(best * (1 - best) / sum(done[t, 0, 6]["tokens"] for t in tasks))
            for s in settings:
                lost.setdefault(name, {})[s] = min(6.0, (values[s] - best) / deviation)
            cells = " | ".join(f"{100 * values[rho, reach]:.2f} ({lost[name][rho, reach]:.1f})" for rho in RHOS)
            print(f"| {name} ± {100 * deviation:.2f} | {cells} |")
    families = sorted({family(name) for name in lost})

    def mean(s, without=None):
        means = []
        for own in families:
            values = [v[s] for name, v in lost.items() if family(name) == own and not math.isnan(v[s])]
            if own != without:
                means.append(sum(values) / len(values))
        return sum(means) / len(means)

    print("\nmean of families, in standard errors")
    for reach in REACHES:
        print(f"c = {reach}: " + "  ".join(f"{rho:g}: {mean((rho, reach)):.2f}" for rho in RHOS))
    for own in families:
        s = min(settings, key=lambda s: mean(s, own))
        values = [v[s] for name, v in lost.items() if family(name) == own and not math.isnan(v[s])]
        fixed = min(((rho, 6) for rho in RHOS), key=lambda s: mean(s, own))
        print(f"without {own}: rho = {s[0]:g}, c = {s[1]:g}, which costs {own} {sum(values) / len(values):.2f};"
              f" with c = 6 rho = {fixed[0]:g}")


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

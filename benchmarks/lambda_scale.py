#!/usr/bin/env python3
"""How errors on held-out data depend on lambda, and which rule for the default lambda loses least.

    python benchmarks/lambda_scale.py prepare FOLDER DATA     # writes training and held-out files
    python benchmarks/lambda_scale.py sweep FOLDER PROGRAM [TASK ...]   # trains at many lambdas
    python benchmarks/lambda_scale.py table FOLDER PROGRAM    # leave-one-out table of constants

FOLDER keeps all that was made, so that a sweep can be cut and resumed. DATA is the folder of the data
sets. Only training data are used: each is cut into a part to train on and a part to measure on. The rows of
scikit-learn need scikit-learn.
"""

import gzip
import json
import math
import random
import subprocess
import sys
import time
from pathlib import Path


def lines(path):
    with gzip.open(path, "rt") as file:
        return file.read().splitlines()


def blocks(text):
    """Groups of lines between empty ones."""
    group = []
    for line in [*text, ""]:
        if line.strip():
            group.append(line)
        elif group:
            yield group
            group = []


def write(path, groups, end=""):
    path.write_text("".join("\n".join(group) + "\n" + end for group in groups))


def pos_attributes(words, t):
    """Attributes of a part-of-speech tagger: words nearby, prefixes, suffixes, shapes."""
    word = words[t]
    found = [f"w={word}", f"l={word.lower()}", "b"]
    found += [f"s{k}={word[-k:]}" for k in (1, 2, 3) if len(word) > k]
    found += [f"p{k}={word[:k]}" for k in (1, 2, 3) if len(word) > k]
    found += [f"w{d:+}={words[t + d].lower()}" for d in (-2, -1, 1, 2) if 0 <= t + d < len(words)]
    shape = "".join("X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in word)
    return [*found, f"sh={shape[:4]}", f"u={word[0].isupper()}", f"d={any(map(str.isdigit, word))}"]


def safe(text):
    return text.replace("\\", "\\\\").replace(":", "\\:")


def prepare(folder, data):
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(7)

    def both(name, train, held, end=""):
        write(folder / f"{name}.train", train, end)
        write(folder / f"{name}.held", held, end)

    # OCR-small: fold 0 is all of its training data; three ways to cut it.
    words = {}
    for line in lines(data / "ocr_letters.tsv.gz"):
        fields = line.split("\t")
        if not line.startswith("#") and fields[3] == "0":
            pixels = bin(int("1" + fields[4], 16))[3:]
            on = "\t".join(f"p{i}" for i, bit in enumerate(pixels) if bit == "1")
            words.setdefault(fields[0], []).append(f"{fields[2]}\t{on}")
    words = list(words.values())
    rng.shuffle(words)
    for k in range(3):
        held = words[k::4]
        both(f"ocr-{k}", [w for j, w in enumerate(words) if j % 4 != k], held, "\n")

    # CoNLL-2000: the last 936 sentences are held out.
    sentences = list(blocks(lines(data / "conll2000_train.txt.gz")))
    held = sentences[8000:]
    for n in (8000, 1000, 200):
        both(f"chunk-{n}", sentences[:n], held, "\n")

    def tagged(sentence):
        columns = [line.split() for line in sentence]
        words = [c[0] for c in columns]
        return [c[1] + "\t" + "\t".join(map(safe, pos_attributes(words, t))) for t, c in enumerate(columns)]

    for n in (8000, 1000, 200):
        both(f"pos-{n}", map(tagged, sentences[:n]), map(tagged, held), "\n")

    for name, file, one_in in (("yeast", "yeast_train", 4), ("reuters", "reuters21578_train", 5)):
        rows = lines(data / f"{file}.svm.gz")
        rng.shuffle(rows)
        both(name, [[r] for j, r in enumerate(rows) if j % one_in], [[r] for j, r in enumerate(rows) if j % one_in == 0])

    graphs = []
    for line in lines(data / "weizmann_horses_superpixels.txt.gz"):
        if line.startswith("G"):
            graphs.append([])
        if graphs:
            graphs[-1].append(line)
    graphs = [g for g in graphs if g[0].split()[2] == "train"]
    both("horses", graphs[:200], graphs[200:])

    hansards = lines(data / "align_enfr_hansards.tsv.gz")
    hansards = [h for h in hansards if not h.startswith("#")]
    both("hansards", [[h] for h in hansards[:300]], [[h] for h in hansards[300:]])
    pairs = [p.split("\t", 1)[1] for p in lines(data / "align_encs_czenali.tsv.gz") if p.startswith("train")]
    both("czenali", [[p] for p in pairs[:1000]], [[p] for p in pairs[1000:1400]])
    people = [p for p in lines(data / "lsp_joints.tsv.gz") if not p.startswith("#")][:1000]
    both("pose", [[p] for p in people[:300]], [[p] for p in people[300:500]])

    from sklearn import datasets

    for name in ("digits", "iris", "wine", "breast_cancer"):
        x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        order = list(range(len(y)))
        rng.shuffle(order)
        for kind in ("raw", "std"):
            z = x if kind == "raw" else (x - x.mean(0)) / [s or 1.0 for s in x.std(0)]
            rows = [f"{y[i]} " + " ".join(f"{j + 1}:{v:.7g}" for j, v in enumerate(z[i]) if v) for i in order]
            for k in range(3):
                both(f"{name}-{kind}-{k}", [[r] for j, r in enumerate(rows) if j % 3 != k], [[r] for r in rows[k::3]])


HAMMING = ["--loss", "hamming"]
# The options of each task, and a lambda to begin with: what errors are best near is found from there.
TASKS = {
    **{f"ocr-{k}": (["--format", "crfsuite", *HAMMING], 0.02) for k in range(3)},
    **{f"chunk-{n}": (["--template", "chunking", *HAMMING], 4.5 / n) for n in (8000, 1000, 200)},
    **{f"pos-{n}": (["--format", "crfsuite", *HAMMING], 4.5 / n) for n in (8000, 1000, 200)},
    "yeast:none": (["--format", "multilabel", "--pairs", "none"], 1e-3),
    "yeast:tree": (["--format", "multilabel", "--pairs", "tree"], 1e-3),
    "yeast:complete": (["--format", "multilabel", "--pairs", "complete"], 1e-3),
    "reuters:none30": (["--format", "multilabel", "--pairs", "none", "--frequent-labels", "30"], 1e-3),
    "reuters:tree30": (["--format", "multilabel", "--pairs", "tree", "--frequent-labels", "30"], 1e-3),
    "reuters:none90": (["--format", "multilabel", "--pairs", "none"], 1e-3),
    "horses": (["--format", "superpixels"], 1e-3),
    "hansards": (["--format", "alignment"], 1e-2),
    "czenali": (["--format", "alignment"], 1e-2),
    "pose": (["--format", "pose"], 1e-3),
    **{
        f"{name}-{kind}-{k}": (["--format", "libsvm"], start)
        for name, start in (("digits", 1.0), ("iris", 0.1), ("wine", 1.0), ("breast_cancer", 1.0))
        for kind in ("raw", "std")
        for k in range(3)
    },
}


def known(folder):
    path = folder / "runs.jsonl"
    runs = {}
    if path.exists():
        for line in path.read_text().splitlines():
            run = json.loads(line)
            runs[run["task"], run["k"], run["extra"]] = run
    return runs


def train(folder, program, task, k, extra=""):
    options, start = TASKS[task]
    name = task.split(":")[0]
    value = start * 2.0**k
    command = [program, "train", str(folder / f"{name}.train"), "--test", str(folder / f"{name}.held"), "-q", "--json"]
    command += ["--lambda", repr(value), *options, "--max-seconds", "60", *extra.split()]
    begin = time.time()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(task, k, done.stderr[-300:], flush=True)
        return None
    found = json.loads(done.stdout)
    run = {"task": task, "k": k, "extra": extra, "lambda": value, "n": found["n"], "error": found["test"]["hamming"],
           "zero_one": found["test"]["zero_one"], "primal": found["primal"], "status": found["status"],
           "passes": found["passes"], "seconds": time.time() - begin}
    with (folder / "runs.jsonl").open("a") as file:
        file.write(json.dumps(run) + "\n")
    return run


def sweep(folder, program, tasks):
    """Goes outwards from the first lambda until both ends are clearly worse than the best."""
    runs = known(folder)
    for task in tasks or TASKS:
        for extra in ("",):
            at = {k: r for (t, k, e), r in runs.items() if t == task and e == extra}
            for k in (0, 1, -1):
                if k not in at:
                    at[k] = train(folder, program, task, k, extra)
            while True:
                at = {k: r for k, r in at.items() if r}
                if not at:
                    break
                best = min(r["error"] for r in at.values())
                ends = [k for k, step in ((min(at), -1), (max(at), 1))
                        if at[k]["error"] < 1.1 * best + 0.001 and abs(k) < 12]
                todo = [k + (1 if k == max(at) else -1) for k in ends]
                if not todo:
                    break
                for k in todo:
                    at[k] = train(folder, program, task, k, extra)
            text = "  ".join(f"{k:+}:{100 * at[k]['error']:.2f}" for k in sorted(at))
            seconds = sum(r["seconds"] for r in at.values())
            print(f"{task:20} {seconds:6.1f}s  {text}", flush=True)


#: What the rule divides by in the program, and what else was tried.
REACH = 6.0
TRIED = (1, 1.5, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32)

#: Raw rows whose attributes differ a hundredfold in size: no lambda fits them, so they say nothing about the rule.
WILD = ("wine-raw", "breast_cancer-raw")


def scale(folder, program, task):
    """The lambda that the program finds by its rule."""
    path = folder / "scales.json"
    known_scales = json.loads(path.read_text()) if path.exists() else {}
    if task not in known_scales:
        name = task.split(":")[0]
        command = [program, "train", str(folder / f"{name}.train"), *TASKS[task][0], "--max-passes", "1", "--json", "-q"]
        found = subprocess.run([*command, "--lambda", "scale", "--standardise", "never"], capture_output=True, text=True, check=True)
        known_scales[task] = json.loads(found.stdout)["lambda"]
        path.write_text(json.dumps(known_scales))
    return known_scales[task]


def parts(folder, task):
    """About how many predictions are measured."""
    rows = [line for line in (folder / f"{task.split(':')[0]}.held").read_text().splitlines() if line.strip()]
    each = {"yeast:none": 14, "yeast:tree": 14, "yeast:complete": 14, "reuters:none30": 30, "reuters:tree30": 30,
            "reuters:none90": 90, "hansards": 20, "czenali": 20, "pose": 14}
    if task == "horses":
        return sum(row.startswith("N") for row in rows)
    return len(rows) * each.get(task, 1)


def error_at(runs, start, value):
    """The error at a lambda, between those that were tried."""
    ks = sorted(runs)
    x = min(max(math.log2(value / start), ks[0]), ks[-1])
    low, high = max(k for k in ks if k <= x), min(k for k in ks if k >= x)
    share = (x - low) / (high - low) if high > low else 0.0
    return (1 - share) * runs[low]["error"] + share * runs[high]["error"]


def table(folder, program):
    """How far from its best lambda each task is, in standard errors, by what the rule divides by."""
    runs = {}
    for (task, k, extra), run in known(folder).items():
        if not extra:
            runs.setdefault(task, {})[k] = run
    groups = {}
    for task in runs:
        split = task[-1].isdigit() and task[-2] == "-"
        groups.setdefault(task[:-2] if split else task, []).append(task)
    lost = {}
    print("| data | best error ± | " + " | ".join(f"c = {c:g}" for c in TRIED) + " |")
    print("|---|---|" + "---|" * len(TRIED))
    for name, tasks in groups.items():
        if name in WILD or any(len(runs[task]) < 3 for task in tasks):
            continue
        rules = {task: REACH * scale(folder, program, task) for task in tasks}

        def error(c):
            return sum(error_at(runs[t], TASKS[t][1], rules[t] / c) for t in tasks) / len(tasks)

        best = min(error(2.0 ** (k / 4)) for k in range(-48, 60))
        deviation = math.sqrt(best * (1 - best) / sum(parts(folder, task) for task in tasks))
        lost[name] = [min(4.0, (error(c) - best) / deviation) for c in TRIED]
        cells = " | ".join(f"{value:.2f}" for value in lost[name])
        print(f"| {name} | {100 * best:.2f} ± {100 * deviation:.2f} % | {cells} |")

    def family(name):
        return name.split("-")[0].split(":")[0]

    families = sorted({family(name) for name in lost})

    def mean(at, without=None):
        of = lambda own: [lost[name][at] for name in lost if family(name) == own]
        means = [sum(of(own)) / len(of(own)) for own in families if own != without]
        return sum(means) / len(means)

    print("| mean of data sets | | " + " | ".join(f"{mean(at):.2f}" for at in range(len(TRIED))) + " |")
    for own in families:
        at = min(range(len(TRIED)), key=lambda at: mean(at, own))
        values = [lost[name][at] for name in lost if family(name) == own]
        print(f"without {own}: c = {TRIED[at]:g}, which costs {own} {sum(values) / len(values):.2f} standard errors")


def main():
    verb, folder, *rest = sys.argv[1:]
    folder = Path(folder)
    if verb == "prepare":
        prepare(folder, Path(rest[0]))
    elif verb == "sweep":
        sweep(folder, rest[0], rest[1:])
    elif verb == "table":
        table(folder, rest[0])


if __name__ == "__main__":
    main()

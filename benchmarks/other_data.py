#!/usr/bin/env python3
"""How the defaults predict on data that took no part in choosing them, beside other programs' defaults.

    python benchmarks/other_data.py FOLDER SOURCES PROGRAM sequences|rows|sets [NAME ...]

FOLDER keeps files in between, SOURCES has the files that `other_data_sets.py` reads, PROGRAM is `maxmargin`. No option of any
program is set, except for the format of the data. Sequences are held against CRFsuite, rows and sets of labels
against LinearSVC and logistic regression. Needs scikit-learn and python-crfsuite. A row of the output has both errors in per
cent, how many standard errors of the paired difference ours is worse, and CPU seconds of training, ours with reading.
"""

import json
import re
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import other_data_sets
from defaults import cpu_of, crfsuite, f1
from lambda_scale import safe


def worse(own, other, sizes):
    """By how many standard errors `own` has more errors; each a count for every example."""
    difference = np.array(own) - np.array(other)
    spread = np.sqrt(len(difference)) * difference.std()
    return difference.sum() / spread if spread else 0.0


def cell(v):
    return f"{v:.6g}"


def attribute(name, value):
    return safe(name) if value == 1 else f"{safe(name)}:{cell(value)}"


def write_sequences(path, sequences):
    text = ("\n".join("\t".join([y, *(attribute(*a) for a in d.items())]) for y, d in s) for s in sequences)
    path.write_text("\n\n".join(text) + "\n\n")


def write_rows(path, data, names):
    numbers = lambda d: sorted((names[a], v) for a, v in d.items() if a in names)
    lines = (f"{label} " + " ".join(f"{j}:{cell(v)}" for j, v in numbers(d)) for label, d in data)
    path.write_text("\n".join(lines) + "\n")


def ours(folder, program, form, *options):
    """Predicted lines, and CPU seconds of training."""
    model = folder / "other.model"
    _, cpu = cpu_of([program, "train", str(folder / "other.train"), "-o", str(model), "-q", "--format", form, *options])
    found, _ = cpu_of([program, "predict", str(model), str(folder / "other.test"), "--format", form])
    return found, cpu


def sequences(folder, program, name, train, test, options):
    write_sequences(folder / "other.train", train)
    write_sequences(folder / "other.test", test)
    text, cpu = ours(folder, program, "crfsuite", *options)
    mine = [block.split("\n") for block in text.strip("\n").split("\n\n")]
    listed = [[[(y, d) for y, d in s] for s in part] for part in (train, test)]
    theirs, other = crfsuite(*listed)
    truth = [[y for y, _ in s] for s in test]
    assert [len(s) for s in mine] == [len(s) for s in truth], "other numbers of labels than tokens"
    count = lambda found: [sum(a != b for a, b in zip(t, p)) for t, p in zip(truth, found)]
    tokens = sum(map(len, truth))
    note = ""
    if any(re.match(r"[BI]-", y) for s in truth for y in s):
        note = f"chunk F1 {100 * f1(truth, mine):.2f} : {100 * f1(truth, theirs):.2f}"
    return [("CRFsuite", count(mine), count(theirs), tokens, cpu, other, note)]


def matrix(data, names):
    from scipy.sparse import csr_matrix

    entries = [(i, names[a] - 1, float(cell(v))) for i, (_, d) in enumerate(data) for a, v in d.items() if a in names]
    i, j, v = zip(*entries)
    return csr_matrix((v, (i, j)), shape=(len(data), len(names)))


def numbered(train):
    names = {}
    for _, d in train:
        for a in d:
            names.setdefault(a, len(names) + 1)
    return names


def rows(folder, program, name, train, test, options):
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    names = numbered(train)
    safe_label = lambda y: re.sub(r"\W", "_", y)
    for part, data in (("train", train), ("test", test)):
        write_rows(folder / f"other.{part}", [(safe_label(y), d) for y, d in data], names)
    text, cpu = ours(folder, program, "libsvm", *options)
    mine = text.split()
    truth = [safe_label(y) for y, _ in test]
    assert len(mine) == len(truth)
    count = lambda found: [a != b for a, b in zip(truth, found)]
    x, tx = matrix(train, names), matrix(test, names)
    if x.nnz > 0.3 * x.shape[0] * x.shape[1]:
        x, tx = x.toarray(), tx.toarray()
    found = []
    for model in (LinearSVC(), LogisticRegression()):
        begin = time.process_time()
        model.fit(x, [safe_label(y) for y, _ in train])
        other = time.process_time() - begin
        found.append((type(model).__name__, np.array(count(mine), float), np.array(count(model.predict(tx)), float), len(truth), cpu, other, ""))
    return found


def sets(folder, program, name, train, test, options):
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import f1_score
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.preprocessing import MultiLabelBinarizer
    from sklearn.svm import LinearSVC

    names = numbered(train)
    labels = {y: k for k, y in enumerate(sorted({y for on, _ in train for y in on}))}
    known = lambda data: [[labels[y] for y in on if y in labels] for on, _ in data]
    for part, data in (("train", train), ("test", test)):
        text = [",".join(str(k) for k in on) for on in known(data)]
        write_rows(folder / f"other.{part}", list(zip(text, (d for _, d in data))), names)
    text, cpu = ours(folder, program, "multilabel", *options)
    coder = MultiLabelBinarizer(classes=range(len(labels))).fit(known(train))
    truth = coder.transform(known(test))
    mine = coder.transform([[int(k) for k in line.split(",") if k.strip().isdigit()] for line in text.split("\n")[:len(test)]])
    x, tx, y = matrix(train, names), matrix(test, names), coder.transform(known(train))
    found = []
    for model in (LinearSVC(), LogisticRegression()):
        begin = time.process_time()
        predicted = OneVsRestClassifier(model).fit(x, y).predict(tx)
        other = time.process_time() - begin
        score = lambda p: (f"micro F1 {100 * f1_score(truth, p, average='micro', zero_division=0):.1f}, "
                           f"whole {100 * (p == truth).all(1).mean():.1f}")
        note = f"{score(mine)} : {score(predicted)}"
        wrong = lambda p: (p != truth).sum(1).astype(float)
        found.append((type(model).__name__, wrong(mine), wrong(predicted), truth.size, cpu, other, note))
    return found


def main():
    folder, sources, program, kind, *chosen = sys.argv[1:]
    options = [a for a in chosen if a.startswith("-")]
    chosen = [a for a in chosen if not a.startswith("-")]
    options = [part for o in options for part in o.split("=", 1)]
    warnings.simplefilter("ignore")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    print("| data | other | error % | other's | worse by | CPU s | other's | |\n|---|---|---|---|---|---|---|---|", flush=True)
    run = {"sequences": sequences, "rows": rows, "sets": sets}[kind]
    for name, make in getattr(other_data_sets, kind)(sources).items():
        if chosen and name not in chosen:
            continue
        train, test = make()
        for who, own, other, size, cpu, seconds, note in run(folder, program, name, train, test, options):
            print(f"| {name} | {who} | {100 * sum(own) / size:.2f} | {100 * sum(other) / size:.2f} | {worse(own, other, size):+.1f} "
                  f"| {cpu:.2f} | {seconds:.2f} | {note} |", flush=True)


if __name__ == "__main__":
    main()

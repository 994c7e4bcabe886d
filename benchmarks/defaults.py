#!/usr/bin/env python3
"""What the defaults predict, beside LinearSVC's and CRFsuite's on the same attributes, and what each costs.

    python benchmarks/defaults.py FOLDER DATA PROGRAM [TASK ...]

FOLDER keeps files in between, DATA is the folder of the data sets, PROGRAM is `maxmargin`. No option of any
program is set, except which data to read. Needs scikit-learn and python-crfsuite. Seconds are CPU seconds of
training, with the time to read the data, which are text for `maxmargin` and in memory for the others.
"""

import gzip
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

from lambda_scale import blocks, lines, pos_attributes, safe


def cpu_of(command):
    """What a program prints, and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(folder, program, name, train, test, *options):
    model = folder / f"{name}.model"
    _, cpu = cpu_of([program, "train", str(train), "-o", str(model), "-q", *options])
    found, _ = cpu_of([program, "evaluate", str(model), str(test), "--json"])
    return json.loads(found), cpu


def write_sequences(path, sequences):
    text = ("\n".join("\t".join([label, *map(safe, attributes)]) for label, attributes in s) for s in sequences)
    path.write_text("\n\n".join(text) + "\n\n")


def crfsuite(train, test):
    """Predictions of CRFsuite's defaults, and CPU seconds of training."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for sequence in train:
        trainer.append([a for _, a in sequence], [y for y, _ in sequence])
    file = "/tmp/crfsuite.model"
    begin = time.process_time()
    trainer.train(file)
    cpu = time.process_time() - begin
    tagger = pycrfsuite.Tagger()
    tagger.open(file)
    return [tagger.tag([a for _, a in sequence]) for sequence in test], cpu


def chunks(labels):
    """The chunks of BIO labels: first, last, type."""
    found, start, kind = set(), None, None
    for i, label in enumerate([*labels, "O"]):
        begins = label[0] == "B" or (label[0] == "I" and kind != label[2:])
        if kind is not None and (label == "O" or begins):
            found.add((start, i - 1, kind))
            kind = None
        if label != "O" and kind is None:
            start, kind = i, label[2:]
    return found


def f1(truth, predicted):
    pairs = [(chunks(t), chunks(p)) for t, p in zip(truth, predicted)]
    hits = sum(len(t & p) for t, p in pairs)
    return 2 * hits / sum(len(t) + len(p) for t, p in pairs)


def error(truth, predicted):
    pairs = [(a, b) for t, p in zip(truth, predicted) for a, b in zip(t, p)]
    return sum(a != b for a, b in pairs) / len(pairs)


def chunk_attributes(words, tags, t):
    """The attributes of CRFsuite's example `chunking.py`."""
    w = lambda d: words[t + d]
    p = lambda d: tags[t + d]
    here = lambda *ds: all(0 <= t + d < len(words) for d in ds)
    found = [f"w[{d}]={w(d)}" for d in (-2, -1, 0, 1, 2) if here(d)]
    found += [f"w[{a}]|w[{b}]={w(a)}|{w(b)}" for a, b in ((-1, 0), (0, 1)) if here(a, b)]
    found += [f"pos[{d}]={p(d)}" for d in (-2, -1, 0, 1, 2) if here(d)]
    found += [f"pos[{a}]|pos[{a + 1}]={p(a)}|{p(a + 1)}" for a in (-2, -1, 0, 1) if here(a, a + 1)]
    found += [f"pos[{a}]|pos[{a + 1}]|pos[{a + 2}]={p(a)}|{p(a + 1)}|{p(a + 2)}" for a in (-2, -1, 0) if here(a, a + 1, a + 2)]
    return [*found, *(["__BOS__"] if t == 0 else []), *(["__EOS__"] if t + 1 == len(words) else [])]


def report(task, measure, rows):
    for name, value, cpu in rows:
        print(f"| {task} | {name} | {measure} | {value:.4f} | {cpu:.2f} |", flush=True)


def sequences_task(task, folder, program, train, test, measure, score, key):
    for part, data in (("train", train), ("test", test)):
        write_sequences(folder / f"{task}.{part}", data)
    found, cpu = ours(folder, program, task, folder / f"{task}.train", folder / f"{task}.test", "--format", "crfsuite")
    predicted, other = crfsuite(train, test)
    truth = [[y for y, _ in s] for s in test]
    report(task, measure, [("maxmargin", key(found), cpu), ("CRFsuite", score(truth, predicted), other)])


def ocr(folder, data, program):
    words = {}
    for line in lines(data / "ocr_letters.tsv.gz"):
        if not line.startswith("#"):
            word, _, letter, fold, pixels = line.split("\t")
            bits = bin(int("1" + pixels, 16))[3:]
            words.setdefault((fold, word), []).append((letter, [f"p{i}" for i, b in enumerate(bits) if b == "1"]))
    train = [w for (fold, _), w in words.items() if fold == "0"]
    test = [w for (fold, _), w in words.items() if fold != "0"]
    found, cpu = ours(folder, program, "ocr-small", "ocr-small", "ocr-small:test")
    report("OCR-small", "letter error", [("maxmargin, built-in data", found["hamming"], cpu)])
    sequences_task("OCR-small", folder, program, train, test, "letter error", error, lambda f: f["hamming"])


def conll(data, part, make, label):
    found = []
    for sentence in blocks(lines(data / f"conll2000_{part}.txt.gz")):
        columns = [line.split() for line in sentence]
        words, tags = [c[0] for c in columns], [c[1] for c in columns]
        found.append([(c[label], make(words, tags, t)) for t, c in enumerate(columns)])
    return found


def chunking(folder, data, program):
    train, test = (conll(data, part, chunk_attributes, 2) for part in ("train", "test"))
    files = [data / f"conll2000_{part}.txt.gz" for part in ("train", "test")]
    found, cpu = ours(folder, program, "conll", *files, "--template", "chunking")
    report("CoNLL-2000", "chunk F1", [("maxmargin, --template chunking", found["chunks"]["all"]["f1"], cpu)])
    key = lambda f: f["chunks"]["all"]["f1"]
    sequences_task("CoNLL-2000", folder, program, train, test, "chunk F1", f1, key)


def pos(folder, data, program):
    make = lambda words, tags, t: pos_attributes(words, t)
    train, test = (conll(data, part, make, 1) for part in ("train", "test"))
    sequences_task("parts of speech", folder, program, train, test, "error", error, lambda f: f["hamming"])


def label_sets(task, folder, data, program, files):
    import numpy as np
    from sklearn.datasets import load_svmlight_file
    from sklearn.metrics import f1_score
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.preprocessing import MultiLabelBinarizer
    from sklearn.svm import LinearSVC

    paths = [data / file for file in files]
    found, cpu = ours(folder, program, task, *paths, "--format", "multilabel")
    (x, y), (tx, ty) = (load_svmlight_file(gzip.open(p), multilabel=True, n_features=n) for p in paths
                        for n in [None if task == "Yeast" else 10163])
    for matrix in (x, tx):  # LinearSVC takes 32-bit indices only.
        matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    coder = MultiLabelBinarizer().fit(y)
    y, ty = coder.transform(y), coder.transform(ty)
    begin = time.process_time()
    model = OneVsRestClassifier(LinearSVC()).fit(x, y)
    other = time.process_time() - begin
    predicted = model.predict(tx)
    report(task, "Hamming error", [("maxmargin", found["hamming"], cpu), ("LinearSVC", np.mean(predicted != ty), other)])
    report(task, "micro F1", [("maxmargin", found["micro_f1"], cpu), ("LinearSVC", f1_score(ty, predicted, average="micro"), other)])
    right = np.mean((predicted == ty).all(1))
    report(task, "subset accuracy", [("maxmargin", found["subset_accuracy"], cpu), ("LinearSVC", right, other)])


def classes(folder, data, program):
    import numpy as np
    from sklearn import datasets
    from sklearn.model_selection import train_test_split
    from sklearn.svm import LinearSVC

    for name in ("digits", "iris", "wine", "breast_cancer"):
        x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        sums = {"maxmargin": [0, 0], "LinearSVC": [0, 0]}
        for seed in range(5):
            parts = train_test_split(x, y, test_size=0.3, random_state=seed, stratify=y)
            for part, xs, ys in (("train", parts[0], parts[2]), ("test", parts[1], parts[3])):
                rows = (f"{b} " + " ".join(f"{j + 1}:{v:.9g}" for j, v in enumerate(a) if v) for a, b in zip(xs, ys))
                (folder / f"{name}.{part}").write_text("\n".join(rows) + "\n")
            found, cpu = ours(folder, program, name, folder / f"{name}.train", folder / f"{name}.test", "--format", "libsvm")
            begin = time.process_time()
            model = LinearSVC().fit(parts[0], parts[2])
            other = time.process_time() - begin
            for who, value, seconds in (("maxmargin", found["hamming"], cpu),
                                        ("LinearSVC", np.mean(model.predict(parts[1]) != parts[3]), other)):
                sums[who][0] += value / 5
                sums[who][1] += seconds / 5
        report(f"{name}, five splits", "error", [(who, *values) for who, values in sums.items()])


TASKS = {
    "ocr": ocr,
    "classes": classes,
    "yeast": lambda f, d, p: label_sets("Yeast", f, d, p, ("yeast_train.svm.gz", "yeast_test.svm.gz")),
    "reuters": lambda f, d, p: label_sets("Reuters", f, d, p, ("reuters21578_train.svm.gz", "reuters21578_test.svm.gz")),
    "chunking": chunking,
    "pos": pos,
}


def main():
    folder, data, program, *tasks = sys.argv[1:]
    Path(folder).mkdir(parents=True, exist_ok=True)
    print("| data | program | measure | value | CPU s |\n|---|---|---|---|---|", flush=True)
    for task in tasks or TASKS:
        TASKS[task](Path(folder), Path(data), program)


if __name__ == "__main__":
    main()

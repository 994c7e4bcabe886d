"""Peak memory of reading and training, in times of the text.

    python benchmarks/memory.py target/release/maxmargin            # 1,000,000 rows, tokens, sequences
    python benchmarks/memory.py target/release/maxmargin 200000 rows chain

The first argument is the program, the second the number of rows, tokens and sequences; names pick the cases whose name
begins with one of them. The data are drawn by a fixed seed, and kept in the folder of the option `--folder`, so that two
programs can be compared on the same files. Needs Linux, or another system that reports the peak of a child.
"""

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path


def rows(attributes, labels, values, words):
    """Rows of so many attributes, with values or ones, and random labels."""

    def write(file, n, rng):
        for _ in range(n):
            numbers = sorted(rng.sample(range(1, words + 1), attributes))
            value = (lambda: f"{rng.random():.4f}") if values else (lambda: "1")
            entries = " ".join(f"{number}:{value()}" for number in numbers)
            file.write(f"{rng.randrange(labels) + 1} {entries}\n")

    return write


def signed_rows(attributes, words):
    """Rows of two classes, most of which their first attributes tell."""

    def write(file, n, rng):
        for _ in range(n):
            label = rng.choice("+-")
            near = 0 if (label == "+") == (rng.random() < 0.9) else words // 2
            numbers = sorted(near + number for number in rng.sample(range(1, words // 2), attributes))
            file.write(f"{label}1 " + " ".join(f"{number}:{rng.random():.3f}" for number in numbers) + "\n")

    return write


def tokens(attributes, words, labels, length):
    """Sequences of so many tokens; one of all tokens if that is None."""

    def write(file, n, rng):
        for _ in range(n if length else 1):
            for _ in range(length or n):
                named = "\t".join(f"{'abcdefgh'[a]}={rng.randrange(words)}" for a in range(attributes))
                file.write(f"{'ABCDEFGHIJ'[rng.randrange(labels)]}\t{named}\n")
            file.write("\n")

    return write


# The name, how the data are written, the options of `train`, and how many times the text is asked for.
CASES = [
    ("rows-3-ones-2-labels", rows(3, 2, False, 100), ["--max-passes", "3"], 6),
    ("rows-6-values-5-labels", rows(6, 5, True, 50), ["--max-passes", "3"], 6),
    ("rows-30-values-5-labels", rows(30, 5, True, 1000), ["--max-passes", "3"], 6),
    ("rows-6-values-signed", signed_rows(6, 100), ["--max-passes", "3"], 6),
    ("rows-6-values-signed-30-passes", signed_rows(6, 100), ["--max-passes", "30"], 6),
    ("long-sequence", tokens(2, 1000, 2, None), ["--format", "crfsuite", "--max-passes", "2"], 6),
    ("chains", tokens(6, 1000, 5, 10), ["--format", "crfsuite", "--max-passes", "2"], 4),
    ("chains-no-dual", tokens(6, 1000, 5, 10), ["--format", "crfsuite", "--max-passes", "2", "--no-dual"], 3),
]


def peak(command, log):
    """The peak of memory of a command in bytes, and its processor time in seconds."""
    pid = os.fork()
    if pid == 0:
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.execvp(command[0], command)
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"{command}: {Path(log).read_text()}")
    unit = 1 if sys.platform == "darwin" else 1024
    return usage.ru_maxrss * unit, usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("n", type=int, nargs="?", default=1_000_000)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--folder", default=None, help="where the data are kept; a temporary folder by default")
    parser.add_argument("--threads", default="2")
    args = parser.parse_args()
    temporary = tempfile.TemporaryDirectory()
    folder = Path(args.folder or temporary.name)
    folder.mkdir(parents=True, exist_ok=True)
    print("| case | text, MB | peak, MB | times the text | asked | processor, s |\n|---|---|---|---|---|---|")
    for name, write, options, asked in CASES:
        if args.cases and not any(name.startswith(case) for case in args.cases):
            continue
        data = folder / f"{name.removesuffix('-no-dual').removesuffix('-30-passes')}-{args.n}"
        if not data.exists():
            with open(data, "w") as file:
                write(file, args.n, random.Random(1))
        command = [args.program, "train", str(data), *options, "--threads", args.threads, "-q"]
        most, seconds = peak([*command, "-o", str(folder / "m.mm")], str(folder / "log"))
        size = data.stat().st_size
        print(f"| {name} | {size / 1e6:.1f} | {most / 1e6:.1f} | {most / size:.2f} | {asked} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()

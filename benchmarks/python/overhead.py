"""What Python costs over the command line: the same training on the same file.

    python benchmarks/python/overhead.py MAXMARGIN TRAIN [--passes N]

MAXMARGIN is the program, built with `cargo build --release`. Both read the file, train the same passes with
the same settings and write the model. Seconds are processor time, of children for the command line.
"""

import argparse
import resource
import statistics
import subprocess
import tempfile
import time
import warnings

import maxmargin
from maxmargin import ChainSVM, SequenceFile


def children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("train")
    parser.add_argument("--passes", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    commands, directs, dictionaries = [], [], []
    for _ in range(args.repeat):
        with tempfile.NamedTemporaryFile() as file:
            begin = children()
            options = ["--lambda", "1e-4", "--tolerance", "0", "--max-passes", str(args.passes)]
            options += [
                "--solver",
                "bcfw",
                "--threads",
                "1",
                "--format",
                "conll",
                "-q",
                "-o",
                file.name,
            ]
            subprocess.run([args.program, "train", args.train, *options], check=True)
            command = children() - begin
        model = ChainSVM(lam=1e-4, tol=0, max_passes=args.passes, solver="bcfw", n_jobs=1)
        begin = time.process_time()
        model.fit(SequenceFile(args.train, "conll"))
        with tempfile.NamedTemporaryFile() as file:
            model.save(file.name)
        direct = time.process_time() - begin
        begin = time.process_time()
        X, y = maxmargin.read_sequences(args.train, "conll")
        read = time.process_time() - begin
        begin = time.process_time()
        model.fit(X, y)
        fit = time.process_time() - begin
        commands.append(command)
        directs.append(direct)
        dictionaries.append(read + fit)
        print(
            f"command line {command:.2f} s; Python from the file {direct:.2f} s "
            f"({100 * (direct / command - 1):+.0f} %); from dictionaries {fit:.2f} s, and {read:.2f} s "
            f"to read them",
            flush=True,
        )
    middle = [statistics.median(seconds) for seconds in (commands, directs, dictionaries)]
    print("medians: command line {:.2f} s, file {:.2f} s, dictionaries {:.2f} s".format(*middle))


if __name__ == "__main__":
    main()

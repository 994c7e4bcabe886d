"""Hours of work with flat memory: `predict -` on an endless stream, and train/resume again and again.

    python benchmarks/soak.py --seconds 3600 target/release/maxmargin

Prints the memory of `predict` over time, and the most that each resumed training took; fails if either grows.
Needs Linux.
"""

import argparse
import os
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def sentences(count, seed):
    lines = []
    for i in range(count):
        for t in range(8):
            word = (i * 31 + t * 17 + seed) % 97
            lines.append(f"L{(word * word + t) % 5}\tw={word}\tlast={(i + t) % 13}\n")
        lines.append("\n")
    return "".join(lines)


def resident(pid):
    """Memory of a process in kB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def soak_predict(program, folder, seconds):
    process = subprocess.Popen(
        [program, "predict", folder / "m.model", "-", "-q", "--format", "crfsuite"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
    )
    sent, over = [0], threading.Event()

    def feed():
        text = sentences(500, 0).encode()
        while not over.is_set():
            process.stdin.write(text)
            sent[0] += 500
        process.stdin.close()

    feeder = threading.Thread(target=feed)
    feeder.start()
    samples, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(max(0.2, seconds / 100))
        samples.append(resident(process.pid))
    over.set()
    feeder.join()
    assert process.wait() == 0
    return sent[0], samples


def soak_training(program, folder, seconds):
    """The most memory of each resumed run, in kB. Every run is begun, stopped and resumed."""
    most, end = [], time.monotonic() + seconds
    base = [program, "train", folder / "d.crf", "-q", "-o", folder / "r.model", "--tolerance", "1e-12"]
    while time.monotonic() < end:
        (folder / "c.ckpt").unlink(missing_ok=True)
        subprocess.run([*base, "--checkpoint", folder / "c.ckpt", "--max-passes", "4"], check=True)
        pid = os.posix_spawn(
            program,
            [os.fspath(a) for a in [*base, "--resume", folder / "c.ckpt", "--max-passes", "8"]],
            dict(os.environ),
        )
        _, status, usage = os.wait4(pid, 0)
        assert status == 0, status
        most.append(usage.ru_maxrss)
    return most


def check(what, samples):
    third = max(1, len(samples) // 3)
    first, last = max(samples[third:2 * third] or samples), max(samples[-third:])
    print(f"{what}: {len(samples)} samples, {first} kB in the second third, {last} kB in the last")
    assert last <= 1.1 * first + 2048, f"{what} grows"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    parser.add_argument("--seconds", type=float, default=60, help="for both, side by side")
    args = parser.parse_args()
    program = args.program.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "d.crf").write_text(sentences(300, 1))
        subprocess.run([program, "train", folder / "d.crf", "-q", "-o", folder / "m.model"], check=True)
        with ThreadPoolExecutor() as pool:
            labelling = pool.submit(soak_predict, program, folder, args.seconds)
            training = pool.submit(soak_training, program, folder, args.seconds)
        sent, samples = labelling.result()
        print(f"predict -: {sent} sentences")
        check("memory of predict -", samples)
        check("memory of train and resume", training.result())


if __name__ == "__main__":
    main()

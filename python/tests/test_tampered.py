"""Files of which one thing was changed: each is refused, or `verify` says what is wrong."""

import json
import struct

import numpy as np
import pytest
from sklearn.datasets import load_iris

import maxmargin
from maxmargin import ChainSVM, MulticlassSVM, RegularizationPath, regularization_path


class TensorFile:
    """A safetensors file, to be changed."""

    def __init__(self, file):
        content = file.read_bytes()
        (length,) = struct.unpack("<Q", content[:8])
        self.file = file
        self.header = json.loads(content[8 : 8 + length])
        self.data = bytearray(content[8 + length :])
        # Without the check sum, as in files of earlier versions.
        self.metadata(lambda meta: meta.pop("check_sum"))

    def metadata(self, change):
        """Changes what the file says besides numbers."""
        ((key, text),) = self.header["__metadata__"].items()
        meta = json.loads(text)
        change(meta)
        self.header["__metadata__"][key] = json.dumps(meta)

    def tensor(self, name):
        start, end = self.header[name]["data_offsets"]
        return np.frombuffer(self.data, dtype="<f8", count=(end - start) // 8, offset=start)

    def write(self):
        header = json.dumps(self.header).encode()
        header += b" " * (-len(header) % 8)
        self.file.write_bytes(struct.pack("<Q", len(header)) + header + bytes(self.data))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda m: m["certificate"].update({"lambda": 0.2}), "the certificate is for lambda 0.2"),
        (lambda m: m["settings"].update({"lambda": 0.2}), "the settings say lambda 0.2"),
        (lambda m: m["certificate"].update(gap=0.0), "the gap is claimed to be 0"),
        (lambda m: m["certificate"].update(quality="heuristic"), "claimed to be heuristic"),
        (lambda m: m["settings"].update(tolerance=1e-7), "is claimed to be within 0.0000001"),
        (lambda m: m.update(status="max-passes"), "the status is max-passes"),
        (lambda m: m.update(bounds={"lower": {"emission": 9.0}}), "outside its bounds from 9"),
    ],
)
def test_a_changed_model_is_noticed(sequences, tmp_path, change, expected):
    X, y = sequences
    file = tmp_path / "chain.model"
    ChainSVM(lam=0.1, tol=1e-3).fit(X, y).save(file)
    assert maxmargin.load(file).verify(X, y) == []
    tampered = TensorFile(file)
    tampered.metadata(change)
    tampered.write()
    findings = maxmargin.load(file).verify(X, y)
    assert any(expected in finding for finding in findings), findings


def test_counts_that_do_not_fit_are_refused(tmp_path):
    X, y = load_iris(return_X_y=True)
    file = tmp_path / "iris.model"
    MulticlassSVM(lam=0.1).fit(X, y).save(file)
    tampered = TensorFile(file)
    tampered.metadata(lambda meta: meta.update(n=149))
    tampered.write()
    with pytest.raises(ValueError, match="iris.model: .* 150 dual blocks, where 149 are stated"):
        maxmargin.load(file)


def test_a_gap_of_a_path_is_primal_minus_dual(tmp_path):
    X, y = load_iris(return_X_y=True)
    file = tmp_path / "iris.path"
    regularization_path(MulticlassSVM(), X, y, epsilon=0.1, lambda_min=0.05).save(file)
    path = RegularizationPath.load(file)
    model = path.estimator_at(0.1)
    certificate = model.certificate_
    assert certificate.gap == pytest.approx(certificate.primal - certificate.dual, abs=1e-12)
    with pytest.raises(ValueError, match="taken out of an exact path, from its breakpoint at"):
        model.verify(X, y)
    tampered = TensorFile(file)
    tampered.tensor("gap")[-1] += 1e-3
    tampered.write()
    last = len(path) - 1
    with pytest.raises(
        ValueError, match=f"iris.path: .* breakpoint {last} .* but primal − dual is"
    ):
        RegularizationPath.load(file)

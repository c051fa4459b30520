"""The same program prints the same bytes in every process, whatever the seed of Python's hashes."""

import os
import subprocess
import sys

PROGRAM = """
import lemmata as lm

z, y, A, x = lm.array("z", "K"), lm.array("y", "K"), lm.array("A", "n,m"), lm.array("x", "m")
results = [
    lm.gradient(-lm.sum(y * lm.log(lm.softmax(z))), wrt=z, given=[lm.equal(lm.sum(y), 1)]),
    lm.jacobian(lm.softmax(A, axis=1), wrt=A),
    lm.gradient(lm.sum(lm.tanh(A @ x) ** 2) + lm.logsumexp(x) * lm.prod(x), wrt=x),
]
for d in results:
    print(d.text("full"), d.latex("full"), d.markdown("full"), d.to_json())
    print(d.numpy_source(), d.result, d.vector_form)
    verdict = d.verdict
    print(verdict.verdict, verdict.conditions, verdict.notes, [(e.kind, e.passed, e.detail) for e in verdict.evidence])
wrong = lm.prove(lm.softmax(2 * z, name="q"), lm.softmax(z)).verdict
print(wrong.verdict, wrong.counterexample)
"""


def test_same_bytes_with_other_hash_seeds() -> None:
    """Two processes at once; neither order of sets nor of ids may reach the output."""
    running = [
        subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"})
        for seed in ("1", "4242")
    ]  # fmt: skip
    outputs = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0, 0], outputs
    assert len(outputs[0][0]) > 5000
    assert outputs[0][0] == outputs[1][0]

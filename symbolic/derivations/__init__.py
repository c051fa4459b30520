"""Steps, derivations, theorems, hypotheses and verdicts."""

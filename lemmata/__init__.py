"""Derive, prove and check the mathematics of deep learning, for every size."""

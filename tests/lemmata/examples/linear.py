"""A linear layer on a batch in plain NumPy, its backward pass, and one in which the sum over the batch was
forgotten.
"""


def linear(x, W, b):
    """One row for each example of the batch."""
    return x @ W.T + b


def linear_backward(g, x, W):
    """Gradients by x, W and b."""
    return g @ W, g.T @ x, g.sum(axis=0)


def linear_backward_wrong(g, x, W):
    """The gradient by the bias has a row for each example."""
    return g @ W, g.T @ x, g

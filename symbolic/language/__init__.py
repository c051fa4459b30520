"""What an index expression is: sizes, indices, elements, sums, deltas, indicators, and arrays over them."""

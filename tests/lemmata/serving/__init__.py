"""The live page: its JSON endpoint, attacks on it, its limits, and the page in a browser."""

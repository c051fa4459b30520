"""Blocks in other people's documents: Markdown, LaTeX, PDF."""

"""The pillar that derives and proves, on SymPy expressions with index nodes of its own; see docs/ for its floors."""

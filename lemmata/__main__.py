"""`python -m lemmata`: the same as the console script `lemmata`."""

from .cli import main

if __name__ == "__main__":
    main()

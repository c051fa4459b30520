"""``python -m pictures FOLDER``, run in ``docs/``: every picture, light and dark."""

import sys

from . import draw

if len(sys.argv) != 2:
    sys.exit("usage: python -m pictures FOLDER")
for path in draw(sys.argv[1]):
    print(path.name, path.stat().st_size)

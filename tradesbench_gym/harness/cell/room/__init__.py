"""What runs inside a cell, or at its wall: small programs on the standard library alone.

The engine starts them as `python -I -S` with nothing of the package on the path, so that building
a cell, entering it and trying its walls costs milliseconds and imports no rule, no scenario and no
key. They know what a specification tells them, and nothing of runs or companies.
"""

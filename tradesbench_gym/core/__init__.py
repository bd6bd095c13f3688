"""The rules: every compiled function of the package, on NumPy and Numba alone."""

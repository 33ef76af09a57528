"""The solvers of the fit, one a file."""

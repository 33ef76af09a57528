"""The model: kernel, centres, loss, the two solvers, and the fit that joins them."""

"""The paper's experiments: the data and the figures."""

"""The paper's data sets: generated, cached, or read from the published files."""

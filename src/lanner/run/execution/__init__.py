"""Who makes the toys: this process, or the workers of a Dask cluster."""

"""Readers: events from ROOT, Parquet, HDF5, CSV and numpy files, chunk by chunk."""

from lanner.events.io.read import Events, columns_of, read_sample

__all__ = ["Events", "columns_of", "read_sample"]

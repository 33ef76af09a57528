"""Events from files and to files.

`read` opens what `paths` finds, works out with `request` which columns are needed, and gives each chunk of rows to
`builder`. The readers are `root`, `parquet`, `hdf5`, `csv`, `numpy` and, for events in memory, `memory`: each makes a
`table.Table`. A new format is one more such module and a line in `paths.FORMATS`. `write` has the writers.
"""

from lanner.events.io.read import Events, columns_of, read_sample

__all__ = ["Events", "columns_of", "read_sample"]

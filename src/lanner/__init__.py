"""Lanner: does the data follow the reference model, how surely, and where does it depart from it?

The public names are listed in `__init__.pyi`. Each is imported when it is first used, so that `import lanner` is quick.
"""

from __future__ import annotations

import lazy_loader

__version__ = "0.1.0"  # the only place: the build reads it here

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Four-momenta as arrays of the package `vector`: NumPy arrays of one particle an event, awkward ones of many."""

from __future__ import annotations

from typing import Any

import numpy as np

from lanner.paper.generators.pythia import need

Vectors = Any  # of `vector`, which only comes with the optional part of the installation


def momenta(**components: Any) -> Vectors:
    """A NumPy array of momenta from their components, such as px and py, or pt, eta, phi and mass (GeV).

    At least one component is an array; those that are numbers are repeated. The result is Cartesian, so that sums are
    rounded only once.

    >>> one, two = (momenta(pt=np.array([40.0]), eta=0.5, phi=phi, mass=0.0) for phi in (0.0, np.pi))
    >>> (one + two).mass.round(6).tolist()
    [80.0]
    """
    columns = np.broadcast_arrays(*components.values())
    made = need("vector").array(dict(zip(components, columns, strict=True)))
    return made.to_xy() if len(components) == 2 else made.to_xyzt()


def generated(particles: Any) -> Vectors:
    """The momenta of Pythia's particles as an awkward array, with their codes as `id`."""
    import awkward as ak

    need("vector").register_awkward()
    p = particles.p
    fields = {"x": p.px, "y": p.py, "z": p.pz, "t": p.e, "id": particles.id}  # x to t are the fields of sums
    return ak.zip(fields, with_name="Momentum4D")

"""The particle spectrum of the SUSY signal, in the SUSY Les Houches Accord's format (SLHA)."""

from __future__ import annotations

# Nothing is light but the pair: a bino of 100 and a wino of 200 GeV without mixing, all else at 3 TeV. The chargino is
# a wino, so chi+ chi- are made through photon and Z.
SPECTRUM = """\
BLOCK MODSEL
  1 0
BLOCK MINPAR
  3 10.0
BLOCK HMIX
  1 3000.0
  2 10.0
BLOCK ALPHA
  -0.1
BLOCK MASS
{masses}
BLOCK NMIX
  1 1 1.0
  2 2 1.0
  3 3 0.70710678
  3 4 -0.70710678
  4 3 0.70710678
  4 4 0.70710678
BLOCK UMIX
  1 1 1.0
  2 2 1.0
BLOCK VMIX
  1 1 1.0
  2 2 1.0
BLOCK STOPMIX
  1 1 1.0
  2 2 1.0
BLOCK SBOTMIX
  1 1 1.0
  2 2 1.0
BLOCK STAUMIX
  1 1 1.0
  2 2 1.0
DECAY 1000022 0.0
DECAY 1000024 0.02
  1.0 2 1000022 24
"""
HEAVY = 3000.0
LIGHT = {1000022: 100.0, 1000024: 200.0}
SPARTICLES = (
    *(1000000 + i for i in (*range(1, 7), *range(11, 17), 21, 22, 23, 24, 25, 35, 37)),
    *(2000000 + i for i in (*range(1, 7), 11, 13, 15)),
)


def chargino_pair() -> str:
    """Charginos of 200 GeV that decay to a W and a neutralino of 100 GeV."""
    return SPECTRUM.format(masses="\n".join(f"  {code} {LIGHT.get(code, HEAVY)}" for code in SPARTICLES))

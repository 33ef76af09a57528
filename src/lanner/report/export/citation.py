"""What to cite: the paper whose method a search uses, and the version of Lanner that made its numbers."""

from __future__ import annotations

# As in CITATION.cff, which no wheel holds; a test compares the two.
_PAPER = """\
@article{Letizia:2022xbe,
  author  = {Letizia, Marco and Losapio, Gianvito and Rando, Marco and Grosso, Gaia and Wulzer, Andrea and
             Pierini, Maurizio and Zanetti, Marco and Rosasco, Lorenzo},
  title   = {Learning new physics efficiently with nonparametric methods},
  journal = {The European Physical Journal C},
  volume  = {82},
  pages   = {879},
  year    = {2022},
  doi     = {10.1140/epjc/s10052-022-10830-y}
}
"""


def citation() -> str:
    """Return what to cite as BibTeX: the paper of the method, and this version of Lanner.

    Returns
    -------
    str
        Two entries, to be pasted into a file of references.

    See Also
    --------
    export : Writes the same beside the numbers of a result.

    Examples
    --------
    >>> from lanner.report.export import citation
    >>> "doi     = {10.1140/epjc/s10052-022-10830-y}" in citation()
    True
    """
    from lanner import __version__

    software = (
        "@software{lanner,\n"
        "  author  = {{The Lanner developers}},\n"
        "  title   = {Lanner},\n"
        f"  version = {{{__version__}}},\n"
        "  note    = {BSD-3-Clause}\n"
        "}\n"
    )
    return f"{_PAPER}\n{software}"

"""The paper's experiments as data: sizes, settings, signals, and the numbers it prints (Sec. 5 and App. C)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from lanner.errors import InputError
from lanner.paper.datasets.library import experiment_module
from lanner.paper.generators.contact import YIELDS, YIELDS_60


@dataclass(frozen=True)
class SignalCase:
    """A signal and its numbers of events N(S). With `alone` it is a model of all data, and N(S) is their number."""

    name: str
    strengths: tuple[float, ...]
    alone: bool = False
    mass: float | None = None  # of a resonance, for cut and count


@dataclass(frozen=True)
class Case:
    """One data set of the paper, in its configuration."""

    name: str
    title: str
    low_level: tuple[str, ...]
    high_level: tuple[str, ...]
    expected: float  # N(0)
    reference_size: int  # N0
    centers: int  # M
    width: float
    width_all: float | None  # with the high-level features; None: not done
    penalty: float
    scaling: str | None
    signals: tuple[SignalCase, ...]
    shown: tuple[tuple[str, int], ...]  # signals and numbers of their strengths whose learned ratios are shown
    ratio_variables: tuple[str, ...]  # high-level features against which the learned ratio is shown
    sizes: tuple[float, ...]  # N0/N(0)
    loss_penalty: float | None  # at which the two losses, converged, are compared; None: not done
    toys: int = 300
    experiments: int = 100
    training: int = 200_000  # events of each kind for the classifier
    cuts: tuple[tuple[str, float], ...] = ()  # those that differ from the experiment's own
    paper: dict[str, Any] = field(default_factory=dict, hash=False)  # the numbers that it prints

    def one(self, signal: str, strength: int) -> SignalCase:
        """A signal at one of its strengths."""
        found = next(s for s in self.signals if s.name == signal)
        return replace(found, strengths=(found.strengths[strength],))


def case(name: str, *, scale: str = "paper") -> Case:
    """A case at the paper's size, or so small that it takes a minute ("smoke")."""
    experiment_module(name)  # refuses other names
    if scale not in ("paper", "smoke"):
        raise InputError(f"scale={scale!r} is not known; choose 'smoke' or 'paper'")
    cases = {"one-dimensional": _one_dimensional, "dimuon": _dimuon, "susy": _susy, "higgs": _higgs}
    if scale == "paper":
        return cases[name]()
    # Without the Z peak, so that of a few thousand events some are where the resonances lie.
    return _reduced(_dimuon(mass=100.0) if name == "dimuon" else cases[name]())


def _reduced(full: Case) -> Case:
    """N(0) and N0 down to some hundred and a few thousand events, with signals of similar significance."""
    share = 400 / full.expected
    signals = tuple(
        replace(s, strengths=tuple(round(x * (share if s.alone else share**0.5), 1) for x in s.strengths[-2:]))
        for s in full.signals
        if s.mass is None or s.mass < 500
    )
    return replace(
        full,
        expected=400.0,
        reference_size=2000,
        centers=300,
        signals=signals[:3],
        shown=((signals[0].name, len(signals[0].strengths) - 1),),
        sizes=(0.5, 6.0),  # below and above the N0 of the other stages
        penalty=max(full.penalty, 1e-8),
        toys=40,
        experiments=20,
        training=2000,
        paper={},
    )


def _one_dimensional() -> Case:
    signals = (("tail", 10.0), ("bulk", 90.0), ("nonresonant", 90.0))
    return Case(
        name="one-dimensional",
        title="1-D example",
        low_level=("x",),
        high_level=(),
        expected=2000.0,
        reference_size=200_000,
        centers=3000,
        width=0.3,
        width_all=None,
        penalty=1e-10,
        scaling=None,
        signals=tuple(SignalCase(name, tuple(n * f for f in (0.5, 0.75, 1.0, 1.25))) for name, n in signals),
        shown=(("nonresonant", 2), ("tail", 2)),
        ratio_variables=("x",),
        sizes=(0.25, 0.5, 1.0, 2.0, 5.0, 10.0),
        loss_penalty=1e-6,
        toys=1000,
        experiments=400,
        paper={
            "dof": 9.58,
            "z": {"tail": 2.43, "bulk": 2.82, "nonresonant": 3.04},
            "ideal": {"tail": 4.7, "bulk": 4.1, "nonresonant": 4.4},
            "seconds": "2.11",
        },
    )


def _dimuon(mass: float = 60.0) -> Case:
    # With the whole Z peak, m_ll > 60 GeV. The paper does not print its cut, but only with this one do its N(S) of 6 to
    # 80 have its ideal significances, and its c_W about as many events more: above 100 GeV they have 2000 more.
    module = experiment_module("dimuon")
    yields = {60.0: YIELDS_60, 100.0: YIELDS}[mass]
    return Case(
        name="dimuon",
        title="DIMUON",
        low_level=module.LOW_LEVEL,
        high_level=module.HIGH_LEVEL,
        expected=2e4,
        reference_size=100_000,
        centers=20_000,
        width=3.0,
        width_all=3.0,
        penalty=1e-6,
        scaling="standard",
        signals=(
            SignalCase("zprime-300", (10.0, 20.0, 30.0, 40.0, 60.0), mass=300.0),
            SignalCase("zprime-200", (20.0, 40.0, 60.0, 80.0), mass=200.0),
            SignalCase("zprime-600", (6.0, 10.0, 15.0, 20.0), mass=600.0),
            *(SignalCase(f"contact-{c}", (round(2e4 * yields[c], 1),), alone=True) for c in (1.0, 1.2, 1.5)),
        ),
        shown=(("zprime-300", 3),),
        ratio_variables=("mll",),
        sizes=(0.25, 0.5, 1.0, 2.0, 5.0, 10.0),
        loss_penalty=1e-6,
        cuts=() if mass == 100.0 else (("mass", mass),),
        paper={"seconds": "44.9 ± 3.4", "network": "4.23 ± 0.73 h"},
    )


def _susy() -> Case:
    strengths = (200.0, 300.0, 400.0, 500.0, 650.0)
    paper = {"seconds": "18.2 ± 1.2", "network": "73.1 ± 10 h"}
    return _of_the_uci_files("susy", SignalCase("chargino", strengths), widths=(4.5, 5.0), paper=paper)


def _higgs() -> Case:
    strengths = (1000.0, 1400.0, 1800.0, 2200.0, 2500.0)
    paper = {"seconds": "22.7 ± 0.4", "network": "112 ± 9 h"}
    return _of_the_uci_files("higgs", SignalCase("heavy-higgs", strengths), widths=(7.0, 7.5), paper=paper)


def _of_the_uci_files(name: str, signal: SignalCase, *, widths: tuple[float, float], paper: dict[str, Any]) -> Case:
    module = experiment_module(name)
    return Case(
        name=name,
        title=name.upper(),
        low_level=module.LOW_LEVEL,
        high_level=module.HIGH_LEVEL,
        expected=1e5,
        reference_size=500_000,
        centers=10_000,
        width=widths[0],
        width_all=widths[1],
        penalty=1e-6,
        scaling="standard",
        signals=(signal,),
        shown=((signal.name, 4),),
        ratio_variables=module.HIGH_LEVEL,
        sizes=(0.25, 0.5, 1.0, 2.0, 5.0),
        loss_penalty=None,
        paper=paper,
    )

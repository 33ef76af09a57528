import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.comparison.pools import pool_of

torch = pytest.importorskip("torch", reason="the network needs torch: pip install 'lanner[network]'")

import lanner  # noqa: E402
from lanner.comparison import PUBLISHED, Network, tune_clip  # noqa: E402
from lanner.comparison.tests.network import training as trainer  # noqa: E402
from lanner.comparison.tests.network.neural_test import PreparedNetwork  # noqa: E402
from lanner.comparison.tests.network.stack import Architecture  # noqa: E402
from lanner.errors import InputError, StoreError  # noqa: E402


@pytest.fixture
def pool():
    return pool_of(dimensions=2, reference=1500, expected=200, other=200)


def stack(pool, draws, hidden=(5, 3), clip=2.0):
    prepared = PreparedNetwork(Network(hidden, clip=clip), pool)
    parameters = torch.from_numpy(prepared.architecture.initial([pool.rng(d, 2) for d in draws]))
    return prepared.objective(draws), parameters


def autograd(prepared, draws, parameters):
    """Loss and gradient of each network by autograd, one at a time, from the definition."""
    losses, gradients = [], []
    for draw, row in zip(draws, parameters, strict=True):
        roles = draw.roles()
        x = torch.from_numpy(prepared.pool.events)
        w = row.double().clone().requires_grad_(True)
        h, start = x, 0
        sizes = prepared.architecture.sizes
        for k, (a, b) in enumerate(pairwise(sizes)):
            weights, biases = w[start : start + a * b].view(b, a), w[start + a * b : start + (a + 1) * b]
            h = h @ weights.T + biases
            h = torch.sigmoid(h) if k < len(sizes) - 2 else h
            start += (a + 1) * b
        f = h[:, 0]
        reference = torch.from_numpy(roles == 1)
        scale = prepared.pool.plan.expected / int(reference.sum())
        loss = scale * torch.expm1(f[reference]).sum() - f[torch.from_numpy(roles == 2)].sum()
        (gradient,) = torch.autograd.grad(loss, w)
        losses.append(loss.item())
        gradients.append(gradient.numpy())
    return np.array(losses), np.array(gradients)


def interrupt(monkeypatch: pytest.MonkeyPatch, optimiser: str, look: int) -> list[int]:
    """Ctrl-C at one of the looks at t; the list grows with every look."""
    steps, advance = [], getattr(trainer, optimiser)

    def interrupted(*args):
        steps.append(1)
        if len(steps) == look:
            raise KeyboardInterrupt
        return advance(*args)

    monkeypatch.setattr(trainer, optimiser, interrupted)
    return steps


def test_parameters_of_the_published_networks() -> None:
    inputs = {"one-dimensional": 1, "dimuon": 5, "susy": 8, "higgs": 21}
    counts = {k: Architecture((inputs[k], *hidden, 1)).parameters for k, (hidden, _) in PUBLISHED.items()}
    assert counts == {"one-dimensional": 13, "dimuon": 96, "susy": 211, "higgs": 307}


def test_loss_and_gradient_of_a_stack_are_those_of_its_networks(pool) -> None:
    draws = [pool.scheme.toy(0), pool.scheme.data(0), pool.scheme.toy(5)]
    objective, parameters = stack(pool, draws)
    loss, expected = autograd(PreparedNetwork(Network((5, 3), clip=2.0), pool), draws, parameters)
    with torch.no_grad():
        t, gradient = objective.evaluate(parameters)
    assert t.numpy() == pytest.approx(-2 * loss, rel=1e-5)
    scale = np.abs(expected).max()
    assert np.abs(gradient.numpy() - expected).max() < 1e-5 * scale


def test_the_curvature_is_the_mean_change_of_the_gradient(pool) -> None:
    # Checked on a network that puts out its last bias, f = b, of which the loss is N (e^b - 1) - D b.
    objective, parameters = stack(pool, [pool.scheme.toy(0)])
    parameters[:] = 0
    parameters[:, -1] = 0.3
    with torch.no_grad():
        curvature = objective.curvature(parameters)[0].numpy()
    assert curvature[-1, -1] == pytest.approx(200 * np.exp(0.3), rel=1e-4)
    assert np.linalg.eigvalsh(curvature).min() > -1e-3


def test_a_part_of_the_events_gives_about_the_same_curvature(pool, monkeypatch: pytest.MonkeyPatch) -> None:
    objective, parameters = stack(pool, [pool.scheme.toy(0)])
    with torch.no_grad():
        whole = objective.curvature(parameters)
        monkeypatch.setattr("lanner.comparison.tests.network.stack._LEAST_EVENTS", 400)
        monkeypatch.setattr("lanner.comparison.tests.network.stack._EVENTS_PER_PARAMETER", 1)
        parts = [objective.curvature(parameters, turn) for turn in range(3)]
    assert float((sum(parts) / 3 - whole).abs().max() / whole.abs().max()) < 1e-3 + 0.02
    assert float((parts[0] - parts[1]).abs().max()) > 0


def test_a_network_is_trained_the_same_alone_and_in_company(pool) -> None:
    # A few steps: later on, rounding can lead to another maximum.
    prepared = PreparedNetwork(Network((3,), clip=3.0, epochs=5), pool)
    draws = [pool.scheme.toy(i) for i in range(3)]
    together = prepared.train(draws).statistic
    alone = prepared.train(draws[1:2]).statistic
    assert alone[0] == pytest.approx(together[1], rel=1e-3, abs=1e-2)


def test_of_several_trainings_the_best_counts(pool) -> None:
    draws = [pool.scheme.toy(i) for i in range(4)]
    one, three = (PreparedNetwork(Network((3,), clip=3.0, epochs=40, starts=k), pool).train(draws) for k in (1, 3))
    assert (three.statistic >= one.statistic - 1e-3).all()
    assert (three.epochs == 120).all()


def test_newton_climbs_higher_than_the_originals_optimiser_in_fewer_steps(pool) -> None:
    draws = [pool.scheme.toy(i) for i in range(4)]
    newton, adam = (
        PreparedNetwork(Network((4,), clip=3.0, optimiser=o, epochs=e, rate=3e-3, tolerance=None), pool).train(draws)
        for o, e in (("newton", 100), ("adam", 2000))
    )
    assert newton.statistic.mean() > adam.statistic.mean()
    assert (np.abs(newton.parameters) <= 3.0).all()
    assert (np.abs(adam.parameters) <= 3.0).all()
    assert (adam.statistic > 0).any()


def test_the_largest_ratio_is_where_the_data_are_too_many(pool) -> None:
    prepared = PreparedNetwork(Network((4,), clip=5.0, epochs=60, starts=1), pool)
    null = prepared.train([pool.scheme.toy(i) for i in range(10)]).statistic
    assert prepared.train([pool.scheme.data(0)]).statistic[0] > null.max() + 10


def test_training_that_was_interrupted_ends_as_if_it_had_not_been(
    pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = PreparedNetwork(Network((3,), clip=3.0, epochs=100, starts=1), pool)
    draws = [pool.scheme.toy(i) for i in range(4)]
    whole = prepared.train(draws)
    monkeypatch.setattr(trainer, "_KEEP", -1.0)
    path, steps = tmp_path / "training.npz", interrupt(monkeypatch, "_newton", 8)
    with pytest.raises(KeyboardInterrupt):
        prepared.train(draws, checkpoint=path)
    assert list(tmp_path.glob("training.*.npz"))
    told: list[int] = []
    resumed = prepared.train(draws, checkpoint=path, progress=told.append)
    assert len(steps) < 8 + 100 // 5  # it did not begin anew
    assert resumed.statistic == pytest.approx(whole.statistic)
    assert (resumed.epochs == whole.epochs).all()
    assert sum(told) == 4
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", [b"", b"not an archive", b"PK\x03\x04 cut short"])
def test_a_damaged_checkpoint_is_trained_again(pool, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "training.npz"
    path.with_suffix(".0.npz").write_bytes(content)
    prepared = PreparedNetwork(Network((3,), clip=3.0, epochs=20), pool)
    draws = [pool.scheme.toy(0)]
    assert prepared.train(draws, checkpoint=path).statistic == pytest.approx(prepared.train(draws).statistic)


def test_adam_resumes_too(pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = PreparedNetwork(Network((3,), clip=3.0, optimiser="adam", epochs=600, tolerance=None), pool)
    draws = [pool.scheme.toy(0)]
    whole = prepared.train(draws)
    monkeypatch.setattr(trainer, "_KEEP", -1.0)
    interrupt(monkeypatch, "_adam", 2)
    with pytest.raises(KeyboardInterrupt):
        prepared.train(draws, checkpoint=tmp_path / "a.npz")
    assert prepared.train(draws, checkpoint=tmp_path / "a.npz").statistic == pytest.approx(whole.statistic, rel=1e-4)


def test_the_clipping_is_tuned_to_the_number_of_parameters() -> None:
    pool = pool_of(dimensions=1, reference=1500, expected=150)
    tuned = tune_clip(Network((2,), tuning_toys=20, epochs=60), pool)
    assert tuned.dof == 7
    best = next(one for one in tuned.tried if one.clip == tuned.clip)
    assert abs(best.mean - 7) < 3 * best.error
    means = [one.mean for one in sorted(tuned.tried, key=lambda one: one.clip)]
    assert stats.spearmanr(range(len(means)), means).statistic > 0.6 or len(means) < 3


def test_a_checkpoint_of_other_toys_is_not_taken(pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = PreparedNetwork(Network((3,), clip=3.0, epochs=20, starts=1), pool)
    first, second = ([pool.scheme.toy(i)] for i in (0, 1))
    fresh = prepared.train(second).statistic
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)
    prepared.train(first, checkpoint=tmp_path / "a.npz")
    assert list(tmp_path.iterdir())
    assert prepared.train(second, checkpoint=tmp_path / "a.npz").statistic == pytest.approx(fresh)


def test_toys_that_were_trained_in_another_way_are_not_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    tests = [Network((1,), clip=1.0, epochs=5)]
    asked: dict[str, Any] = {"expected": 50, "tests": tests, "toys": 20, "seed": 1, "output": tmp_path}
    reference, data = rng.normal(size=(1200, 1)), rng.normal(size=(50, 1))
    lanner.compare(reference, data=data, **asked)
    monkeypatch.setattr("lanner.comparison.tests.network.neural_test.REVISION", trainer.REVISION + 1)
    with pytest.raises(StoreError, match="revision"):
        lanner.compare(reference, data=data, **asked)


def test_tight_bounds_do_not_keep_a_network_from_settling() -> None:
    # Steps that were only clipped took twice as many here, and six times as many on networks of 200 parameters.
    pool = pool_of(dimensions=4, reference=2000, expected=400, other=200)
    made = PreparedNetwork(Network((6, 6), clip=0.8, starts=1), pool).train([pool.scheme.toy(i) for i in range(6)])
    assert made.settled.all()
    assert np.median(made.epochs) < 200


def test_a_clipping_tuned_for_another_network_is_tuned_again(tmp_path: Path) -> None:
    pool = pool_of(dimensions=1, reference=600, expected=60)
    first = 10**0.5
    other = {"clip": first, "mean": 4.0, "error": 1.0, "ks_p": 0.5, "toys": 4}  # four parameters: as good as can be
    (tmp_path / "clip.json").write_text(json.dumps({"tried": [other], "made_for": {}}))
    prepared: Any = Network((1,), tuning_toys=4, epochs=10, starts=1).prepare(pool, tmp_path)
    tried = json.loads((tmp_path / "clip.json").read_text())["tried"]
    assert tried[0] != other
    assert prepared.test.clip in [one["clip"] for one in tried]
    again: Any = Network((1,), tuning_toys=4, epochs=10, starts=1).prepare(pool, tmp_path)
    assert again.test.clip == prepared.test.clip


def test_a_clipping_tuned_for_other_sizes_is_tuned_again(tmp_path: Path) -> None:
    test = Network((1,), tuning_toys=4, epochs=10, starts=1)
    few, many = (pool_of(dimensions=1, reference=2000, expected=n) for n in (20, 90))
    tune_clip(test, few, tmp_path)
    assert tune_clip(test, many, tmp_path) == tune_clip(test, many)


@pytest.mark.parametrize(
    "wrong", [{"hidden": ()}, {"hidden": (0,)}, {"clip": 0.0}, {"starts": 0}, {"epochs": 0}, {"optimiser": "sgd"}]
)
def test_networks_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Network(**wrong)

from lanner.paper.generators.spectrum import chargino_pair


def masses() -> dict[int, float]:
    block = chargino_pair().split("BLOCK MASS\n")[1].split("BLOCK")[0]
    return {int(code): float(mass) for code, mass in (line.split() for line in block.splitlines())}


def test_only_the_chargino_and_the_neutralino_are_light():
    assert {code: mass for code, mass in masses().items() if mass < 1000} == {1000022: 100.0, 1000024: 200.0}


def test_every_sparticle_has_a_mass():
    squarks_and_sleptons = {family + i for family in (1000000, 2000000) for i in (*range(1, 7), 11, 13, 15)}
    assert squarks_and_sleptons <= set(masses())

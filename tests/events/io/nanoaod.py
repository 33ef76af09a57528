"""Events as NanoAOD has them, written with uproot and awkward: muons and jets, any number of each in an event."""

from itertools import pairwise

import awkward as ak
import numpy as np
import uproot

FIELDS = {"Muon": ("pt", "phi", "charge", "tight"), "Jet": ("pt", "phi", "charge", "tight")}


def collection(rng, events, mean):
    counts = rng.poisson(mean, events)
    number = int(counts.sum())

    def lists(values):
        return ak.unflatten(values, counts)

    return ak.zip(
        {
            "pt": lists(rng.exponential(30, number).astype(np.float32)),
            "phi": lists(rng.uniform(-np.pi, np.pi, number).astype(np.float32)),
            "charge": lists(rng.integers(0, 2, number, dtype=np.int32) * 2 - 1),
            "tight": lists(rng.random(number) < 0.5),
        }
    )


def events_of(number=20_000, seed=1):
    """Columns with records in lists."""
    rng = np.random.default_rng(seed)
    return {
        "Muon": collection(rng, number, 1.0),
        "Jet": collection(rng, number, 4.0),
        "MET_pt": rng.exponential(20, number).astype(np.float32),
        "genWeight": rng.normal(1, 0.1, number),
        "run": np.full(number, 362_104, dtype=np.uint32),
    }


def flattened(columns):
    """The same with a column for each field, as Muon_pt."""
    flat = {f"{name}_{field}": columns[name][field] for name, fields in FIELDS.items() for field in fields}
    return flat | {name: column for name, column in columns.items() if name not in FIELDS}


def with_dots(asked):
    """What is asked of the flat columns, asked of the records."""
    if isinstance(asked, dict):
        return {key: with_dots(value) for key, value in asked.items()}
    if isinstance(asked, list):
        return [with_dots(text) for text in asked]
    return asked.replace("Muon_", "Muon.").replace("Jet_", "Jet.")


def write_tree(path, columns, blocks=1):
    with uproot.recreate(path) as file:
        _in_blocks(file.mktree, columns, blocks)  # records in lists become Muon_pt with a counter nMuon
    return str(path)


def write_ntuple(path, columns, blocks=1):
    with uproot.recreate(path) as file:
        _in_blocks(file.mkrntuple, columns, blocks)
    return str(path)


def _in_blocks(make, columns, blocks):
    edges = np.linspace(0, len(next(iter(columns.values()))), blocks + 1).astype(int)
    parts = [{name: column[a:b] for name, column in columns.items()} for a, b in pairwise(edges)]
    made = make("Events", parts[0])
    for part in parts[1:]:
        made.extend(part)


def write_parquet(path, columns, blocks=1):
    rows = len(next(iter(columns.values())))
    ak.to_parquet(ak.zip(columns, depth_limit=1), str(path), row_group_size=-(-rows // blocks))
    return str(path)


# How each file is written, and whether its collections are records.
WRITERS = {
    "tree.root": (write_tree, False),
    "collections.root": (write_ntuple, True),
    "flat.root": (lambda path, columns, blocks=1: write_ntuple(path, flattened(columns), blocks), False),
    "records.parquet": (write_parquet, True),
    "flat.parquet": (lambda path, columns, blocks=1: write_parquet(path, flattened(columns), blocks), False),
}

"""Where an HDF5 file keeps its values: what lies in other files, or was never written, is not read.

A link into another file, or external storage, can name any file of the machine. Of a virtual dataset the library gives
zeros where a source is missing, and of rows that were never written too, as if they had been measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lanner._util.text import listed
from lanner.errors import InputError

_MOST_LINKS = 16  # soft links that lead on to each other: as many as the library itself follows


@dataclass(frozen=True)
class Elsewhere:
    """What a link into another file stands for; the other file is not opened."""

    file: str
    path: str


def member_of(group: Any, name: str, links: int = _MOST_LINKS) -> Any:
    """What a name in a group leads to: a group, a dataset, `Elsewhere`, or None where it leads nowhere.

    Soft links are followed here part by part, because the library would go through links into other files as well.
    """
    import h5py

    link = group.get(name, getlink=True)
    if isinstance(link, h5py.ExternalLink):
        return Elsewhere(link.filename, link.path)
    if not isinstance(link, h5py.SoftLink):
        return group[name]  # not `get`, which says None of what is damaged
    node = group.file if link.path.startswith("/") else group
    for part in link.path.split("/"):
        if part in ("", "."):
            continue
        if links == 0 or not isinstance(node, h5py.Group) or part not in list(node):
            return None
        node = member_of(node, part, links - 1)
        if isinstance(node, Elsewhere):
            return node
    return node


def check_stored(member: Any, what: str) -> None:
    """Refuse what is not, or not wholly, in the file itself."""
    import h5py

    if isinstance(member, Elsewhere):
        raise InputError(
            f"{what} is a link into another file, {member.file!r}, and only the file that was named is read: give the "
            f"other file itself, as in '{member.file}:{member.path.strip('/')}'"
        )
    if member.is_virtual:
        sources = listed(dict.fromkeys(source.file_name for source in member.virtual_sources()))
        raise InputError(
            f"{what} is a virtual dataset, whose values lie in {sources or 'no file at all'} and read as zeros where "
            f"one is missing: give those files themselves, or copy the values into a dataset of their own"
        )
    if member.external:
        raise InputError(
            f"{what} keeps its values outside of the HDF5 file, in {listed(name for name, *_ in member.external)}: "
            f"copy them into the file, for example with h5repack"
        )
    # A fill value of somebody's own choice says what rows mean that were never written; the default zero does not.
    chosen = member.id.get_create_plist().fill_value_defined() == h5py.h5d.FILL_VALUE_USER_DEFINED
    if member.size and not chosen and member.id.get_space_status() != h5py.h5d.SPACE_STATUS_ALLOCATED:
        raise InputError(
            f"{what} has values that were never written, which would read as zeros: the program that wrote the file "
            f"may have been stopped; write it again, or cut the dataset to the rows that it has"
        )

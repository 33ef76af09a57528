"""Folders of a blind search: what was decided before the data were looked at, and when they were.

A blind folder holds the record of what was decided (`blind.json`), the expected sensitivity, its page and the toys, and
nothing of the data. None of its files has a clock in it, so that anybody can make them again with other data and
compare them byte by byte; when the record was made is the time of its file, which unblinding writes down.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lanner._util.files import digest_of, read_bytes, write_atomically
from lanner._util.text import joined
from lanner.errors import FolderError, InputError
from lanner.run.fingerprint import numbers_version
from lanner.run.manifest import FolderWriter, Manifest, read_together

FORMAT = "lanner.blind/1"
KIND = "blind"
RECORD, PAGE, SENSITIVITY = "blind.json", "blind.html", "sensitivity.json"
OPENED = "unblinded.json"
_CHUNK = 2**22  # bytes of a file that are read at a time
_AGAIN = "Run the same blind search again into this folder: it is made anew from its toys"


@dataclass(frozen=True)
class Blinded:
    """What was decided before the data were looked at."""

    settings: dict[str, Any]  # of `search`, as they were given
    reference: str  # digest of its events and weights
    features: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = ()  # those that the reference was read from, with the digests of their content

    def write(self, files: FolderWriter) -> Path:
        """Write the record, as one of the files of a blind folder."""
        import lanner

        plain = {"format": FORMAT, "lanner": lanner.__version__, "numbers": numbers_version()}
        return files.write(RECORD, json.dumps(plain | asdict(self), indent=1, allow_nan=False))

    def check_files(self, files: Sequence[tuple[str, str]]) -> None:
        """Refuse files of the reference that are not those of the record, by their names."""
        if len(files) != len(self.files):
            there, now = (joined([name for name, _ in some]) or "none" for some in (self.files, files))
            raise InputError(
                f"the reference was blinded with {len(self.files)} files ({there}), and now there are {len(files)} "
                f"({now}): restore those, or blind again into a new folder"
            )
        for (name, digest), (now, other) in zip(self.files, files, strict=True):
            if digest != other:
                called = name if now == name else f"{now} (then {name})"
                raise InputError(
                    f"{called} was changed after the search was blinded: what was decided blind holds for the file as "
                    "it was. Restore it, or blind again into a new folder"
                )

    def check_reference(self, digest: str, features: Sequence[str]) -> None:
        """Refuse another reference than that of the record."""
        if tuple(features) != self.features:
            raise InputError(
                f"the search was blinded with the features {joined(self.features)}, and the reference has "
                f"{joined(features)}: give the same reference, or blind again into a new folder"
            )
        if digest != self.reference:
            raise InputError(
                "the reference is not the one that was blinded: its events or weights are others. Give the same one, "
                "or blind again into a new folder"
            )


def digests_of_files(paths: Sequence[Path]) -> tuple[tuple[str, str], ...]:
    """The names and the digests of files."""
    import hashlib

    found = []
    for path in paths:
        digest = hashlib.sha256()
        try:
            with path.open("rb") as stream:
                while part := stream.read(_CHUNK):
                    digest.update(part)
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
        found.append((str(path), digest.hexdigest()))
    return tuple(found)


def is_blind(folder: Path) -> bool:
    """Whether a folder is that of a blind search, unblinded by now or not."""
    return os.path.exists(folder / RECORD)  # and no error where the path can be none: whoever writes there says why


def read_blinded(folder: Path) -> Blinded:
    """The record of a blind folder; one that was changed, or of another version of the statistic, is refused."""
    if not is_blind(folder):
        raise InputError(
            f"{folder} holds no {RECORD}: it is not the folder of a blind search. `lanner search ... --blind`, or "
            "lanner.blind_search, makes one"
        )
    return read_together(folder, lambda: _read(folder))


def _read(folder: Path) -> Blinded:
    try:
        manifest = Manifest.read(folder, KIND)
        plain = json.loads(manifest.content(RECORD))
    except FolderError as error:
        raise FolderError(f"{error}. {_AGAIN}") from error
    if plain["format"] != FORMAT or plain["numbers"] != numbers_version():
        raise InputError(
            f"{folder / RECORD} was made by another version of the statistic (Lanner {plain['lanner']}): unblind with "
            "that version, or blind again into a new folder"
        )
    return Blinded(
        settings=plain["settings"],
        reference=plain["reference"],
        features=tuple(plain["features"]),
        files=tuple((str(name), str(digest)) for name, digest in plain["files"]),
    )


def refuse_blind(folder: Path) -> None:
    """Refuse to look at data in a blind folder otherwise than by unblinding it."""
    if is_blind(folder) and opened_at(folder) is None:
        raise InputError(
            f"{folder} is blind: its data have not been looked at. `lanner unblind {folder}`, or lanner.unblind, looks "
            "at them, once; for anything else use another folder"
        )


def refuse_opened(folder: Path) -> None:
    """Refuse to call a folder blind whose data have been looked at."""
    when = opened_at(folder)
    if when is not None:
        raise InputError(f"{folder} was unblinded {when}: nothing in it is blind any more; use another folder")
    if (folder / "result.json").exists():
        raise InputError(f"{folder} holds a result, so its data have been looked at; use another folder")


def opened_at(folder: Path) -> str | None:
    """When the data of a blind folder were looked at first (UTC); None if they were not."""
    try:
        return str(json.loads(read_bytes(folder / OPENED))["unblinded"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        # Somebody was here: that the time is lost does not make the folder blind again.
        return f"at a time that is lost, because {OPENED} is damaged ({error})"


def open_folder(folder: Path, data: str | None = None) -> str:
    """Write down that the data are looked at now, before they are; of a second time the first one holds.

    `data` is their digest, once it is known: other data than those of the first time are refused.
    """
    before: dict[str, Any] = {}
    if (folder / OPENED).exists():
        try:
            before = json.loads(read_bytes(folder / OPENED))
        except (OSError, ValueError):
            before = {"unblinded": opened_at(folder)}
    if data is not None and before.get("data") not in (None, data):
        raise InputError(
            f"{folder} was unblinded {before['unblinded']} with other data than these: data are looked at once. Give "
            "those, or blind again into a new folder"
        )
    now = datetime.now(UTC)
    made = datetime.fromtimestamp((folder / RECORD).stat().st_mtime, UTC)
    about = {
        "unblinded": before.get("unblinded") or _spelled(now),
        "blinded": before.get("blinded") or _spelled(made),
        "record": digest_of(read_bytes(folder / RECORD)),
        "data": data or before.get("data"),
    }
    write_atomically(folder / OPENED, json.dumps(about, indent=1))
    return str(about["unblinded"])


def _spelled(when: datetime) -> str:
    return when.strftime("%Y-%m-%d %H:%M:%S UTC")

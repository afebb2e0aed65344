"""Archives whose bytes depend on their contents alone: sorted names, one time, root as the owner of everything unless said otherwise."""

from __future__ import annotations

import dataclasses
import gzip
import io
import os
import pathlib
import stat
import tarfile

from . import source

# Of gzip. Trials of packaging take less.
LEVEL = 9


@dataclasses.dataclass
class Entry:
    """A file, or a folder if there is no content. `link` is the target of a symbolic link."""

    content: bytes | None = None
    mode: int = 0o644
    owner: int = 0
    link: str | None = None


def tar(entries: dict[str, Entry]) -> bytes:
    """A tar archive of entries by path; folders of files are added."""
    everything = dict(entries)
    for path in entries:
        for folder in pathlib.PurePosixPath(path).parents:
            if str(folder) != ".":
                everything.setdefault(str(folder), Entry(mode=0o755))
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(everything):
            entry = everything[path]
            info = tarfile.TarInfo(path)
            info.mtime, info.mode, info.uid, info.gid = source.epoch(), entry.mode, entry.owner, entry.owner
            if entry.link is not None:
                info.type, info.linkname = tarfile.SYMTYPE, entry.link
                archive.addfile(info)
            elif entry.content is None:
                info.type = tarfile.DIRTYPE
                archive.addfile(info)
            else:
                info.size = len(entry.content)
                archive.addfile(info, io.BytesIO(entry.content))
    return out.getvalue()


def compressed(content: bytes) -> bytes:
    """Gzip without name and time."""
    return gzip.compress(content, compresslevel=LEVEL, mtime=0)


def of_folder(folder: pathlib.Path, below: str = "") -> dict[str, Entry]:
    """The files of a folder. Of their modes only whether they can be executed counts: the rest depends on who checked them out."""
    found = {}
    for directory, _, names in os.walk(folder):
        for name in names:
            path = pathlib.Path(directory, name)
            can_run = path.stat().st_mode & stat.S_IXUSR
            found[str(pathlib.PurePosixPath(below) / path.relative_to(folder).as_posix())] = Entry(path.read_bytes(), 0o755 if can_run else 0o644)
    return found

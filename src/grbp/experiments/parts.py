"""Play a sweep in parts, each with a file of its own, and put the parts together.

This is for batch systems: every job of an array plays a part and knows nothing of the others.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from grbp.errors import InvalidInput
from grbp.experiments.sweep import (
    FOLDER,
    Driver,
    Shard,
    read_spec,
    sweep_path,
    write_result,
)
from grbp.experiments.sweep_file import SweepFile
from grbp.experiments.sweep_result import SweepResult
from grbp.experiments.sweep_spec import SweepSpec
from grbp.worlds.validation import check_whole

MOST_PARTS: Final = 100_000
"""The largest number of parts of a sweep."""

_SHOWN: Final = 10
"""Parts that are named when they are missing."""


def part_path(folder: Path, spec: SweepSpec, part: tuple[int, int]) -> Path:
    """Return the file in which a part of a sweep is kept."""
    return Path(folder) / f"{spec.name}.part-{part[0]}-of-{part[1]}.sweep"


def sweep_part(
    spec: SweepSpec | Path | str,
    part: tuple[int, int],
    folder: Path | str = FOLDER,
    **options: Any,
) -> Path:
    """Play one part of a sweep into a file of its own.

    Parameters
    ----------
    spec : SweepSpec or path
        The whole sweep, or the TOML file that says what it is.
    part : tuple of int
        The number of the part, from 1, and the number of parts.
    folder : path, optional
        Where the file is.
    **options
        Who plays, as for `sweep`.

    Returns
    -------
    Path
        The file ``NAME.part-I-of-N.sweep``, for `merge_parts`.

    See Also
    --------
    merge_parts : Puts the parts together.
    """
    spec = read_spec(spec)
    count = check_whole("the number of parts", part[1], 1, MOST_PARTS)
    index = check_whole("the part", part[0], 1, count)
    path = part_path(Path(folder), spec, (index, count))
    with Driver(spec, path, options.pop("device", "cpu")) as driver:
        driver.play(Shard(index, count), **options)
    return path


def merge_parts(
    spec: SweepSpec | Path | str,
    folder: Path | str = FOLDER,
    files: Sequence[Path | str] = (),
) -> SweepResult:
    """Put the parts of a sweep together, and write its result.

    Parameters
    ----------
    spec : SweepSpec or path
        The whole sweep, or the TOML file that says what it is.
    folder : path, optional
        Where the parts are, and where the result goes.
    files : sequence of path, optional
        The files of the parts; by default those of this sweep in the folder.

    Returns
    -------
    SweepResult

    Raises
    ------
    InvalidInput
        If something is missing. What is there has been put together all the same.

    See Also
    --------
    sweep_part : Plays a part.
    """
    spec, folder = read_spec(spec), Path(folder)
    found = [Path(file) for file in files] or sorted(folder.glob(f"{spec.name}.part-*-of-*.sweep"))
    for file in found:
        if not file.is_file():
            raise InvalidInput(f"the file {file} was given; there is none of that name")
    whole = sweep_path(folder, spec)
    if not found and not whole.is_file():
        raise InvalidInput(
            f"{folder} has no parts of the sweep {spec.name!r}; name the folder or the files"
        )
    with Driver(spec, whole) as driver:
        for file in found:
            with SweepFile(file) as part:
                driver.file.add_stored(
                    (cell.key, chunk) for cell in driver.cells for chunk in part.chunks(cell)
                )
        if gaps := [one for one in driver.find_gaps() if one.missing]:
            replicas = sum(chunk.size for one in gaps for chunk in one.missing)
            raise InvalidInput(
                f"{_name_absent(found)}{replicas:,} replicas are missing in {len(gaps):,} of the"
                f" {len(driver.cells):,} cells; play the missing parts and merge again, or run the"
                " sweep without --part, which plays what is missing"
            )
        result = driver.result()
    write_result(folder, result)
    return result


def _name_absent(files: Sequence[Path]) -> str:
    """Say which parts are not among the files, as their names tell; nothing if none is."""
    named = [re.search(r"\.part-(\d+)-of-(\d+)\.sweep$", file.name) for file in files]
    counts = {int(one[2]) for one in named if one}
    if len(counts) != 1:
        return ""
    (count,), there = counts, {int(one[1]) for one in named if one}
    absent = [str(k) for k in range(1, count + 1) if k not in there]
    if not absent:
        return ""
    shown = ", ".join(absent[:_SHOWN]) + (", ..." if len(absent) > _SHOWN else "")
    which = f"part {shown} of {count} is" if len(absent) == 1 else f"parts {shown} of {count} are"
    return f"{which} missing: "

"""Draws the rooms of the four packages and their imports into docs/tour.md:
`python -m bench.rooms`.

Enters: the imports of the tree. Leaves: one picture per package (Mermaid), in which an arrow that
follows from others is left out.
"""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

PAGE = Path(__file__).parents[1] / "docs" / "tour.md"
PACKAGES = ("engine", "views", "sql", "ringbuffer")
PICTURE = re.compile(r"(?<=<!-- rooms -->\n).*(?=<!-- end of rooms -->)", re.DOTALL)
# A package's own files that are no rooms of their own.
LOOSE = frozenset({"__init__", "__main__"})

Arrows = dict[str, set[str]]


def arrows(package: str) -> Arrows:
    """Return which rooms of a package each of its rooms imports from."""
    graph = grimp.build_graph(*PACKAGES, include_external_packages=False)
    rooms = {module: module.split(".")[1] for module in graph.modules if module.startswith(package + ".")}
    found: Arrows = {room: set() for room in rooms.values() if room not in LOOSE}
    for module, room in rooms.items():
        below = {rooms[one] for one in graph.find_modules_directly_imported_by(module) if one in rooms}
        if room in found:
            found[room] |= below - {room} - LOOSE
    return found


def reduced(found: Arrows) -> Arrows:
    """Return the arrows that do not follow from others.

    Raises graphlib.CycleError for rooms that import each other.
    """
    reached: Arrows = {}
    for room in TopologicalSorter(found).static_order():
        reached[room] = set().union(*({below} | reached[below] for below in found[room]))
    return {
        room: {one for one in below if not any(one in reached[other] for other in below)}
        for room, below in found.items()
    }


def picture() -> str:
    """Return the pictures of all packages."""
    parts = []
    for package in PACKAGES:
        lines = [
            f"    {room} --> {one}" for room, below in sorted(reduced(arrows(package)).items()) for one in sorted(below)
        ]
        parts.append(f"### {package}\n\n```mermaid\ngraph TD\n" + "\n".join(lines) + "\n```\n")
    return "\n".join(parts)


def page() -> str:
    """Return the tour with the pictures of today."""
    return PICTURE.sub(lambda _: "\n" + picture() + "\n", PAGE.read_text())


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"wrote {PAGE.name}")

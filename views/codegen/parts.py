"""A long function in parts: what it assigns in a row becomes functions of a bounded length.

Enters: the lines of a generated flat function. Leaves: its lines with calls of parts, and the
parts. LLVM takes a time that grows with the square of a function's length where a loop is around
it, since every call in the loop is a way out of it. Must not know expressions.
"""

from __future__ import annotations

import re

INDENT = "    "
# Lines of a part. A call of a part costs a few nanoseconds, the compilation of a part 0.1 s.
PART_LINES = 100
ASSIGNMENT = re.compile(r"( +)((?:[a-z]\w*|_)(?:, (?:[a-z]\w*|_))*) = (.+)")
NAME = re.compile(r"(?<![\w.])[a-z_]\w*")
PARAMETER = re.compile(r" +([a-z]\w*),")
LOOP = re.compile(r" +for (\w+) in ")


def in_parts(lines: list[str]) -> tuple[list[str], list[list[str]]]:
    """Return the lines of a function that calls its parts, and the lines of the parts."""
    local = local_names(lines)
    uses = [frozenset(NAME.findall(line)) & local for line in lines]
    runs = cuts(lines)
    # How many lines have a name: what a part has set and others use is what it returns.
    counts: dict[str, int] = {}
    for names in uses:
        for name in names:
            counts[name] = counts.get(name, 0) + 1
    found: list[str] = []
    parts: list[list[str]] = []
    place = 0
    for start, end in runs:
        found += lines[place:start]
        name = f"section_{len(parts) + 1}"
        assert name not in local, f"{name} is the name of a variable"
        call, part = one_part(name, lines[start:end], uses[start:end], counts)
        if call:
            found.append(call)
            parts.append(part)
        else:
            # What nobody uses.
            found += lines[start:end]
        place = end
    return found + lines[place:], parts


def local_names(lines: list[str]) -> frozenset[str]:
    """Return the arguments and variables of a function."""
    found: set[str] = set()
    for line in lines:
        assignment = ASSIGNMENT.fullmatch(line)
        if assignment is not None:
            found.update(assignment[2].split(", "))
            continue
        other = PARAMETER.fullmatch(line) or LOOP.match(line)
        if other is not None:
            found.add(other[1])
    return frozenset(found - {"_"})


def cuts(lines: list[str]) -> list[tuple[int, int]]:
    """Return where parts begin and end: assignments in a row with one indentation."""
    found: list[tuple[int, int]] = []
    start, indentation = 0, ""
    for place, line in enumerate([*lines, ""]):
        assignment = ASSIGNMENT.fullmatch(line)
        if assignment is not None and assignment[1] == indentation:
            continue
        # A shorter rest stays where it is.
        whole = range(start, place - PART_LINES + 1, PART_LINES) if indentation else range(0)
        found += [(first, first + PART_LINES) for first in whole]
        start, indentation = place, "" if assignment is None else assignment[1]
    return found


def one_part(name: str, lines: list[str], uses: list[frozenset[str]], counts: dict[str, int]) -> tuple[str, list[str]]:
    """Return the call of a part, and the part; no call if it has no results.

    uses: the local names of each line. counts: how many lines of the whole function have a name.
    """
    given: dict[str, None] = {}
    made: dict[str, None] = {}
    here: dict[str, int] = {}
    for line, names in zip(lines, uses, strict=True):
        assignment = ASSIGNMENT.fullmatch(line)
        assert assignment is not None, line
        for used in NAME.findall(assignment[3]):
            if used in names and used not in made:
                given[used] = None
        made |= dict.fromkeys(one for one in assignment[2].split(", ") if one != "_")
        for one in names:
            here[one] = here.get(one, 0) + 1
    results = ", ".join(one for one in made if here[one] < counts[one])
    indentation = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    arguments = ", ".join(given)
    body = [INDENT + line.lstrip() for line in lines]
    part = ["@kernel", f"def {name}({arguments}):", *body, f"{INDENT}return {results}"]
    return f"{indentation}{results} = {name}({arguments})" if results else "", part

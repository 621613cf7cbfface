"""PostgreSQL's choice among overloads (func_select_candidate): exact matches, implicit casts,
preferred types, untyped literals.

Enters: candidates and the families of the arguments. Leaves: one `Signature`, or the reason why
there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sql.functions import polymorphic
from sql.functions.signatures import PSEUDO, Signature
from sql.types.casts import can_cast, category, common_family, preferred
from sql.types.datatypes import element_family as scalar_family
from sql.types.enums import EnumFamily
from sql.types.records import RecordFamily


class AmbiguousError(Exception):
    """More than one candidate is left (42725)."""


def choose(candidates: Iterable[Signature], families: Sequence[str], is_operator: bool = False) -> Signature | None:
    """Return the overload for arguments of these families, None when no overload takes them.

    Raises AmbiguousError.
    """
    found = [candidate for candidate in candidates if takes(candidate, families)]
    exact = next((candidate for candidate in found if candidate.arguments == tuple(families)), None)
    if exact is not None:
        return exact
    if is_operator and len(families) == 2 and "unknown" in families:
        # An untyped literal beside a typed operand is first taken to be of that type.
        other = families[0] if families[1] == "unknown" else families[1]
        same = next((candidate for candidate in found if candidate.arguments == (other, other)), None)
        if other != "unknown" and same is not None:
            return same
    if len(found) <= 1:
        return found[0] if found else None
    return narrow(found, families)


def takes(candidate: Signature, families: Sequence[str]) -> bool:
    """Tell whether the candidate takes the arguments with implicit casts only."""
    wanted = candidate.arguments
    if candidate.variadic:
        fixed = len(wanted) - 1
        return len(families) > fixed and all(map(fits, wanted[:fixed], families[:fixed]))
    return len(wanted) == len(families) and all(map(fits, wanted, families)) and elements_agree(candidate, families)


def fits(wanted: str, family: str) -> bool:
    """Tell whether one argument takes a value of `family`."""
    if wanted in polymorphic.GROUPS:
        return polymorphic.fits(wanted, family)
    if wanted == "array":
        return family.endswith("[]") or family == "unknown"
    if wanted == "enum":
        return family == "unknown" or (isinstance(family, EnumFamily) and not family.is_array)
    if wanted == "record":
        return family == "unknown" or (isinstance(family, RecordFamily) and not family.is_array)
    if wanted in PSEUDO:
        return True
    # An array is taken only as it is: PostgreSQL's operators and functions on arrays are
    # polymorphic.
    return family == wanted or (can_cast(family, wanted, "implicit") and not family.endswith("[]"))


def elements_agree(candidate: Signature, families: Sequence[str]) -> bool:
    """Tell whether the elements of arrays, and values beside them, have a common type, and all
    enums are of one type.
    """
    if "enum" in candidate.arguments:
        return len({family for family in families if isinstance(family, EnumFamily)}) == 1
    if "record" in candidate.arguments:
        return any(isinstance(family, RecordFamily) for family in families)
    if "array" not in candidate.arguments:
        return polymorphic.elements(candidate.arguments, families) is not None
    return element_family(candidate, families) is not None


def element_family(candidate: Signature, families: Sequence[str]) -> str | None:
    """Return the type of the elements in a polymorphic call, None when there is none."""
    elements = [
        scalar_family(family) if wanted == "array" else family
        for wanted, family in zip(candidate.arguments, families, strict=True)
        if wanted in ("array", "element", "enum")
    ]
    return common_family(elements)


def category_of(wanted: str) -> str:
    """Return the category of an argument; pseudo-types have one of their own."""
    return "P" if wanted in PSEUDO else category(wanted)


def is_preferred(wanted: str) -> bool:
    return wanted not in PSEUDO and preferred(wanted)


def argument(candidate: Signature, place: int) -> str:
    """Return the argument that a candidate takes at a place.

    The last one of a variadic comes again.
    """
    return candidate.arguments[min(place, len(candidate.arguments) - 1)]


def narrow(found: list[Signature], families: Sequence[str]) -> Signature:
    """Apply PostgreSQL's rules one after the other until one candidate is left."""
    known = [(place, family) for place, family in enumerate(families) if family != "unknown"]
    found = best(found, [sum(argument(candidate, place) == family for place, family in known) for candidate in found])
    if len(found) == 1:
        return found[0]
    scores = [
        sum(
            argument(candidate, place) == family
            or (
                is_preferred(argument(candidate, place)) and category_of(argument(candidate, place)) == category(family)
            )
            for place, family in known
        )
        for candidate in found
    ]
    found = best(found, scores)
    if len(found) == 1:
        return found[0]
    if len(known) == len(families):
        raise AmbiguousError
    unknown = [place for place, family in enumerate(families) if family == "unknown"]
    by_category = narrow_by_category(found, unknown)
    if len(by_category) == 1:
        return by_category[0]
    distinct = {family for _, family in known}
    if len(distinct) == 1:
        guess = [distinct.copy().pop()] * len(families)
        left = [candidate for candidate in by_category if takes(candidate, guess)]
        if len(left) == 1:
            return left[0]
    raise AmbiguousError


def best(found: list[Signature], scores: list[int]) -> list[Signature]:
    top = max(scores)
    return [candidate for candidate, score in zip(found, scores, strict=True) if score == top]


def narrow_by_category(found: list[Signature], places: list[int]) -> list[Signature]:
    """Narrow by untyped literals: a string category wins, else the category that all share, then
    its preferred type.
    """
    wanted: dict[int, tuple[str, bool]] = {}
    for place in places:
        categories = {category_of(argument(candidate, place)) for candidate in found}
        if "S" in categories:
            chosen = "S"
        elif len(categories) == 1:
            chosen = categories.pop()
        else:
            return found
        has_preferred = any(
            is_preferred(argument(candidate, place))
            for candidate in found
            if category_of(argument(candidate, place)) == chosen
        )
        wanted[place] = (chosen, has_preferred)
    kept = [
        candidate
        for candidate in found
        if all(
            category_of(argument(candidate, place)) == chosen
            and (not has_preferred or is_preferred(argument(candidate, place)))
            for place, (chosen, has_preferred) in wanted.items()
        )
    ]
    return kept or found

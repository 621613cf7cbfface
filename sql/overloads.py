"""PostgreSQL's choice among overloads (func_select_candidate): exact matches, implicit casts, preferred types, untyped literals.

Enters: candidates and the families of the arguments. Leaves: one `Signature`, or why there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sql.casts import can_cast, category, preferred
from sql.signatures import Signature


class AmbiguousError(Exception):
    """More than one candidate is left (42725)."""


def choose(candidates: Iterable[Signature], families: Sequence[str], is_operator: bool = False) -> Signature | None:
    """Return the overload for arguments of these families, None when none takes them; raises AmbiguousError."""
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
    if candidate.variadic:
        return bool(families)
    if len(candidate.arguments) != len(families):
        return False
    return all(
        # An array is taken only as it is: PostgreSQL's operators and functions on arrays are polymorphic.
        wanted in ("any", "element")
        or (can_cast(family, wanted, "implicit") and (family == wanted or not family.endswith("[]")))
        for wanted, family in zip(candidate.arguments, families, strict=True)
    )


def narrow(found: list[Signature], families: Sequence[str]) -> Signature:
    """Apply PostgreSQL's rules one after the other until one candidate is left."""
    known = [(place, family) for place, family in enumerate(families) if family != "unknown"]
    found = best(found, [sum(candidate.arguments[place] == family for place, family in known) for candidate in found])
    if len(found) == 1:
        return found[0]
    scores = [
        sum(
            candidate.arguments[place] == family
            or (preferred(candidate.arguments[place]) and category(candidate.arguments[place]) == category(family))
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
    """For untyped literals: a string category wins, else the one that all share; then its preferred type."""
    wanted: dict[int, tuple[str, bool]] = {}
    for place in places:
        categories = {category(candidate.arguments[place]) for candidate in found}
        if "S" in categories:
            chosen = "S"
        elif len(categories) == 1:
            chosen = categories.pop()
        else:
            return found
        has_preferred = any(
            preferred(candidate.arguments[place])
            for candidate in found
            if category(candidate.arguments[place]) == chosen
        )
        wanted[place] = (chosen, has_preferred)
    kept = [
        candidate
        for candidate in found
        if all(
            category(candidate.arguments[place]) == chosen
            and (not has_preferred or preferred(candidate.arguments[place]))
            for place, (chosen, has_preferred) in wanted.items()
        )
    ]
    return kept or found

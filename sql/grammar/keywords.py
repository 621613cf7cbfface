"""PostgreSQL 15's keyword classes (pg_get_keywords()), which decide where a word may be a name. Unreserved words are in none of them."""

from __future__ import annotations

# Can never be a name unless quoted.
RESERVED = frozenset(
    """
    all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create
    current_catalog current_date current_role current_time current_timestamp current_user default deferrable desc
    distinct do else end except false fetch for foreign from grant group having in initially intersect into lateral
    leading limit localtime localtimestamp not null offset on only or order placing primary references returning
    select session_user some symmetric table then to trailing true union unique user using variadic when where
    window with
    """.split()
)

# Can be the name of a type or a function, but not of a column or relation.
TYPE_OR_FUNCTION = frozenset(
    """
    authorization binary collation concurrently cross current_schema freeze full ilike inner is isnull join left
    like natural notnull outer overlaps right similar tablesample verbose
    """.split()
)

# Can be the name of a column or relation, but not of a type or function.
COLUMN_NAME = frozenset(
    """
    between bigint bit boolean char character coalesce dec decimal exists extract float greatest grouping inout int
    integer interval least national nchar none normalize nullif numeric out overlay position precision real row
    setof smallint substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement xmlexists
    xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable
    """.split()
)

# Need AS to be a column label.
NEED_AS = frozenset(
    """
    array as char character create day except fetch filter for from grant group having hour intersect into isnull
    limit minute month notnull offset on order over overlaps precision returning second to union varying where
    window with within without year
    """.split()
)

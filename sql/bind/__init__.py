"""Binding: from syntax to typed trees, with names, types, overloads and casts resolved as
PostgreSQL resolves them.

queries: SELECT and VALUES | writes: INSERT, UPDATE, DELETE, defaults and constraints of columns |
expressions | substitute: values for parameters and now().
"""

from sql.bind.queries.query import bind_query
from sql.bind.substitute import substitute_now, substitute_parameters
from sql.bind.writes.delete import BoundDelete, bind_delete
from sql.bind.writes.insert import BoundInsert, bind_default, bind_insert
from sql.bind.writes.update import BoundUpdate, bind_update

__all__ = [
    "BoundDelete",
    "BoundInsert",
    "BoundUpdate",
    "bind_default",
    "bind_delete",
    "bind_insert",
    "bind_query",
    "bind_update",
    "substitute_now",
    "substitute_parameters",
]

"""From syntax to typed trees: names, types, overloads and casts resolved as PostgreSQL resolves them.

query: SELECT and VALUES | insert, update, delete: writes, and column defaults | substitute: values for parameters and now().
"""

from sql.bind.delete import BoundDelete, bind_delete
from sql.bind.insert import BoundInsert, bind_default, bind_insert
from sql.bind.query import bind_query
from sql.bind.substitute import substitute_now, substitute_parameters
from sql.bind.update import BoundUpdate, bind_update

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

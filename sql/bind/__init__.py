"""From syntax to typed trees: names, types, overloads and casts resolved as PostgreSQL resolves them.

query: SELECT and VALUES | insert: INSERT and column defaults | substitute: values for parameters and now().
"""

from sql.bind.insert import BoundInsert, bind_default, bind_insert
from sql.bind.query import bind_query
from sql.bind.substitute import substitute_now, substitute_parameters

__all__ = ["BoundInsert", "bind_default", "bind_insert", "bind_query", "substitute_now", "substitute_parameters"]

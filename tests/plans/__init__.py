"""Plan snapshots: each .txt holds CREATE VIEW statements and what EXPLAIN shows of them. `make
golden` rewrites them.
"""

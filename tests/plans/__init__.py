"""Plan snapshots: each .txt holds CREATE VIEW statements and what EXPLAIN shows of them. `python -m tests.plans` rewrites them."""

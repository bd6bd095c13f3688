"""The company over HTTP: its operations, the servers that answer them, its public database and its
documents.

Everything here is public to an agent or belongs to whoever drives the run; the rules stand in
`core`, the run in `world`. Nothing here holds a rule.
"""

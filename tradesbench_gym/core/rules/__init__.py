"""The rules of the simulation, one file a rule: plain functions over the records of
`core/layout.py`.

A rule stands here and nowhere else; the engine calls it when its moment comes. Every function takes
the records it reads and writes (`run`, `p` for PARAMS, `book` for HANDBOOK), never many arrays.
"""

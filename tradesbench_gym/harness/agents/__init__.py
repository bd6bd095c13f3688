"""Agents: programs that answer the company's phone. One small interface, `Agent`, and the kinds
that ship: pi, and any executable that speaks the API.
"""

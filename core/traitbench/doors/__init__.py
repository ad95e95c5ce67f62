"""Doors: the wires that other programs already speak, translated to our operations and back. Pure of HTTP.

Requests and answers are types of `traitbench.contract`, as everywhere. A door has no second way to score: it calls
`traitbench.operations.scores`. On a door an address is a text, and nothing is fetched.
"""

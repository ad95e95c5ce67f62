"""How many rows are scored, kept and resumed.

`outcomes` scores rows and formats results, `parts` keeps the outcomes so that a kill loses none of them, and `audits`
has what a person decided about a sample of them.
"""

"""Files as other people and their programs write them: messy tables, every container, and files made to do harm.

`cases` says what a right reading is and judges one. `delimited`, `records`, `sheets` and `hostile` write the files, and
`reading` reads each of them in a process of its own. A seed draws what varies, so that it is always the same.
"""

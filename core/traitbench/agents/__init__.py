"""Tools for agents: a few operations of the API, described for a language model, over the Model Context Protocol.

A tool reads, and never writes: an agent can propose samples, and a person accepts them. Tools call the service through
the client, so a key may do with them what it may do with the API. Only `server.py` and `http.py` import the package
`mcp`, which is slow to import.
"""

"""The client for programs on an event loop. The synchronous client is made from these files.

`python -m tests.client.generate` writes `client.py`, `models.py` and so on from the files here.
"""

"""How long a test waits for something that must happen, before it fails.

Much longer than it takes on a busy machine: a limit here finds what never happens, not what is slow.
"""

PATIENCE_S = 180
PATIENCE_MS = 1_000 * PATIENCE_S

"""Who may use the workbench: sign-in, the people and their sessions, and what a key permits."""

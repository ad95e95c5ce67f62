"""For the operator: API keys and the state of the service, read from the database."""

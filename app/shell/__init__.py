"""What every page stands on: navigation, links, the session, calls of the service, and formatting."""

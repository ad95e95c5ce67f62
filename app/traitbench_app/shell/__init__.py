"""What all pages use: navigation, links, the session, calls to the service, and formatting."""

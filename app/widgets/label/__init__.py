"""The parts of the page Label."""

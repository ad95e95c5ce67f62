"""What the locked packages are: their licences, and the advisories that are known here."""

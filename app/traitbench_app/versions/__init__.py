"""Parts of the Versions page: figures of a trait, tags, retention, and versions side by side."""

"""Parts of the Traits page: cards, the list, the editor, a new trait, discovery."""

"""What the service returns, prepared for people: figures, explanations, snippets and Markdown."""

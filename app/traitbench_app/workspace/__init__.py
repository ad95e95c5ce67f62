"""What the workbench keeps between two draws: samples and changes, texts, previews, and work in the background."""

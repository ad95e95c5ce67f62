"""Parts of the Traits page: the form, the balance of the poles, discovery, and why editing is closed."""

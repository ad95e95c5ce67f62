"""Parts of pages, in one folder for each page; `common` has the parts that belong to no single page."""

"""Score columns of texts inside engines for large data: Spark, Ray, Daft, DuckDB, Polars and others that use Arrow."""

"""The C host and its Python binding."""

"""A small training library."""

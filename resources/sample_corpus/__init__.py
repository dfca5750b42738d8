"""The embedded sample corpus: synthetic WIT rows and the drawn pictures they point at."""

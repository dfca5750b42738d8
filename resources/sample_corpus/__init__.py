"""The embedded sample corpus: synthetic WIT rows and the drawn pictures that they link to."""

"""The outside world: material and services that the pipeline talks to but does not own."""

"""Multiple choice, as several benchmarks have it."""

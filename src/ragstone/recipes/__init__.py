"""Ways to make a benchmark from a benchmark."""

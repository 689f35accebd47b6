"""What a drafted question must pass."""

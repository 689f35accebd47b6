"""What an answer is scored by."""

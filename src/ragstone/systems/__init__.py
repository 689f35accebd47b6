"""RAG systems to evaluate."""

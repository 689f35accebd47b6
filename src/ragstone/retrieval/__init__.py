"""Finding passages: chunks, BM25, embeddings, fusion."""

"""What touches files, imports and GPUs: the cache, the loader and import hook, ahead-of-time compilation."""

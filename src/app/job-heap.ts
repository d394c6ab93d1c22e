/**
 * The heap of a thread that works for an export. Left to itself, V8 lets garbage pile up to some multiple of what is alive, the more
 * the larger the heap may become. The bound of what lives long is far off: a daemon that crawls 20,000 pages has 317 MiB in all its
 * threads, and reading a page of 16 MiB for search takes 400 MB (measured). A thread that comes to it ends, and its job or its
 * bundle's search data fails.
 */
export const JOB_HEAP = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 1024 };

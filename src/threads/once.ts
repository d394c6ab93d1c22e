/**
 * Options of an LRUCache whose values come from `forceFetch(key, { context: load })`. Concurrent calls for a key share one load,
 * which completes even if other values fill the cache before its end.
 */
export const sharedLoads = <T>() => ({
  fetchMethod: (_key: string, _stale: T | undefined, { context: load }: { readonly context: () => Promise<T> }) =>
    load(),
  ignoreFetchAbort: true,
});

/** Calls `make` once and shares its result. After an error, the next call runs `make` again. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    });
    return made;
  };
}

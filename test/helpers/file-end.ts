const ends: (() => unknown)[] = [];

/** Runs after the last test of the current file. Hooks of a helper would belong to its first user. */
export function onFileEnd(end: () => unknown): void {
  ends.push(end);
}

/** Runs the functions in reverse order. */
export async function endFile(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}

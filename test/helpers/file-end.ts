const ends: (() => unknown)[] = [];

/** Runs after the last test of the file that is running: for helpers, whose own hooks would be those of their first user. */
export function onFileEnd(end: () => unknown): void {
  ends.push(end);
}

/** The last begun ends first. */
export async function endFile(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}

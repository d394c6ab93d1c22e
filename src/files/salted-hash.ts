/** With a random salt, so that nobody writes names that share one slot of a table. */
export function saltedHash(salt: number, text: string): number {
  let hash = salt;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  return hash >>> 0;
}

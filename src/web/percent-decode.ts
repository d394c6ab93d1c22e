/** Null where the escapes are broken. */
export function percentDecode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** The text as it stands where its percent signs are no escapes. */
export const decodeOrKeep = (text: string): string => percentDecode(text) ?? text;

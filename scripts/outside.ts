/** Packages outside of the bundled program, because they have native code, or a folder with programs. */
export const OUTSIDE = ['onnxruntime-node', 'playwright-core'];

/** Packages that the program needs at run time. Other dependencies of these packages are only for their installation. */
export const NEEDED_OUTSIDE = [...OUTSIDE, 'onnxruntime-common'];

/**
 * True if the program needs this file at run time on one of the platforms. The inference runtime has libraries for five platforms
 * (288 MB). @param path path in node_modules @param platforms names such as `linux/x64`
 */
export function isNeeded(path: string, platforms: readonly string[]): boolean {
  if (!NEEDED_OUTSIDE.some((name) => path.startsWith(`${name}/`))) return false;
  // Omit the trace viewer, which docshelf never opens. Omit types and source maps, which are for developers.
  if (/^playwright-core\/lib\/vite\/|\.d\.[mc]?ts$|\.map$|^onnxruntime-node\/script\//.test(path)) return false;
  const [, platform] = /^onnxruntime-node\/bin\/[^/]+\/([^/]+\/[^/]+)\//.exec(path) ?? [];
  return platform === undefined || platforms.includes(platform);
}

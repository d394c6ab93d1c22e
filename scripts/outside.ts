/** Packages outside of the bundled program: with native code, or with a folder of their own programs. */
export const OUTSIDE = ['onnxruntime-node', 'playwright-core'];

/** Packages that those need at run time. Their other dependencies are only for their installation. */
export const NEEDED_OUTSIDE = [...OUTSIDE, 'onnxruntime-common'];

/**
 * True if the program needs this file at run time on one of the platforms. The inference runtime has libraries for five
 * platforms (288 MB). @param path in node_modules @param platforms such as `linux/x64`
 */
export function isNeeded(path: string, platforms: readonly string[]): boolean {
  if (!NEEDED_OUTSIDE.some((name) => path.startsWith(`${name}/`))) return false;
  // The trace viewer has no window here. Types and source maps are for authors of programs.
  if (/^playwright-core\/lib\/vite\/|\.d\.[mc]?ts$|\.map$|^onnxruntime-node\/script\//.test(path)) return false;
  const [, platform] = /^onnxruntime-node\/bin\/[^/]+\/([^/]+\/[^/]+)\//.exec(path) ?? [];
  return platform === undefined || platforms.includes(platform);
}

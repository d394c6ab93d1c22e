import { type SourceType, sourceTypeOf } from '../rewrite/source-type.ts';

/** Which files are rewritten, without the parsers that do it. */
export interface MountableFile {
  /** Without a leading slash. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Media type with its charset. */
  readonly type: string;
}

/** `payload`: Next.js' `.txt` beside a page; `data`: JSON that a page loads. */
export type MountKind = SourceType | 'payload' | 'data';

const MANIFEST_NAME = /(?:^|\/)(?:site|app|manifest)\.(?:webmanifest|json)$/;

/** How a file is read; null for one whose bytes stay, whatever they are. */
export function kindOf(path: string, mediaType: string): MountKind | null {
  const type = sourceTypeOf(mediaType);
  if (type !== null) return type;
  if (MANIFEST_NAME.test(path)) return 'manifest';
  if (path.endsWith('.txt')) return 'payload';
  return path.endsWith('.json') ? 'data' : null;
}

/** Larger files are served as they are: rewriting takes 100 ms a MiB, and several times the file in memory. */
export const MOUNT_BYTES_MAX = 8 * 1024 ** 2;

/** True where `mountFile` may give other bytes. */
export function isMountable(path: string, mediaType: string, size: number): boolean {
  const kind = kindOf(path, mediaType);
  return kind !== null && kind !== 'data' && size <= MOUNT_BYTES_MAX;
}

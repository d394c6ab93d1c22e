/** Limits for an untrusted archive (archives.md). */
export interface ArchiveLimits {
  /** Files; the same number of folders is allowed in addition. */
  readonly entriesMax: number;
  readonly fileBytesMax: number;
  readonly totalBytesMax: number;
  /** Unpacked bytes per archive byte, checked above `ratioFreeBytes`. */
  readonly ratioMax: number;
  readonly ratioFreeBytes: number;
  /** UTF-8 bytes of a name segment, by common file systems. */
  readonly segmentBytesMax: number;
  /** UTF-8 bytes of a whole name, by Linux's PATH_MAX. */
  readonly nameBytesMax: number;
  readonly depthMax: number;
  /** Bytes of a zstd window, which the decoder allocates. */
  readonly windowBytesMax: number;
}

const MiB = 1024 ** 2;
const GiB = 1024 ** 3;

export const ARCHIVE_LIMITS: ArchiveLimits = Object.freeze({
  entriesMax: 1_000_000,
  fileBytesMax: 512 * MiB,
  totalBytesMax: 8 * GiB,
  ratioMax: 200,
  ratioFreeBytes: 64 * MiB,
  segmentBytesMax: 255,
  nameBytesMax: 4096,
  depthMax: 64,
  windowBytesMax: 128 * MiB,
});

/** Limit for JSON requests. */
export const BODY_BYTES_MAX = 64 * 1024;

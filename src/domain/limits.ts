export interface ArchiveLimits {
  /** Maximum number of files. In addition, the archive may have the same number of folders. */
  readonly entriesMax: number;
  readonly fileBytesMax: number;
  readonly totalBytesMax: number;
  /** Maximum unpacked bytes per byte of the archive. Applies after the first `ratioFreeBytes` unpacked bytes. */
  readonly ratioMax: number;
  readonly ratioFreeBytes: number;
  /** Maximum UTF-8 bytes of a name segment, as in common file systems. */
  readonly segmentBytesMax: number;
  /** Maximum UTF-8 bytes of a file's path in a bundle. Equal to PATH_MAX of Linux. */
  readonly nameBytesMax: number;
  readonly depthMax: number;
  /** Maximum bytes of a zstd window, which the decoder allocates. */
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

/** Maximum bytes of the body of a JSON request. */
export const BODY_BYTES_MAX = 64 * 1024;

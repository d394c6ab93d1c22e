/** Bounds on an untrusted archive (archives.md). */
export interface ArchiveLimits {
  /** Files; as many folders may be there besides. */
  readonly entriesMax: number;
  readonly fileBytesMax: number;
  readonly totalBytesMax: number;
  /** Unpacked bytes per archive byte, looked at once more than `ratioFreeBytes` are unpacked. */
  readonly ratioMax: number;
  readonly ratioFreeBytes: number;
  /** Bytes of UTF-8 of one name segment: what common file systems hold. */
  readonly segmentBytesMax: number;
  /** Bytes of UTF-8 of a whole name: Linux's PATH_MAX. */
  readonly nameBytesMax: number;
  readonly depthMax: number;
  /** Bytes of a zstd window: what the decoder may allocate. */
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

/** Of a request in JSON (contract, section 8). */
export const BODY_BYTES_MAX = 64 * 1024;

import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE_BYTES = 8;
const COLOURS_MAX = 256;
/** Bits of each channel that distinguish colors. */
const BITS_KEPT = 5;

/**
 * Reduces a screenshot to at most 256 colors, one byte each: the most frequent colors. Other pixels get the nearest of these
 * colors. Reads PNG files of Chromium: eight bits per channel, RGB or RGBA, not interlaced (https://www.w3.org/TR/png-3/).
 */
export function smallPng(png: Buffer): Buffer {
  const { width, height, pixels, channels } = decoded(png);
  const keyAt = (at: number): number => {
    const [red = 0, green = 0, blue = 0] = pixels.subarray(at, at + 3);
    const shift = 8 - BITS_KEPT;
    return ((red >> shift) << (2 * BITS_KEPT)) | ((green >> shift) << BITS_KEPT) | (blue >> shift);
  };
  // The first color of a key represents it, and the most frequent keys form the palette.
  const keys = new Map<number, { count: number; colour: readonly number[] }>();
  for (let at = 0; at < pixels.length; at += channels) {
    const key = keys.get(keyAt(at));
    if (key === undefined) keys.set(keyAt(at), { count: 1, colour: [...pixels.subarray(at, at + 3)] });
    else key.count += 1;
  }
  const palette = [...keys.values()]
    .sort((left, right) => right.count - left.count)
    .slice(0, COLOURS_MAX)
    .map(({ colour }) => colour);
  const placeOf = new Map(Array.from(keys, ([key, { colour }]) => [key, nearest(palette, colour)]));
  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1)
      lines[y * (width + 1) + 1 + x] = placeOf.get(keyAt((y * width + x) * channels)) ?? 0;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    png.subarray(0, SIGNATURE_BYTES),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flat())),
    chunk('IDAT', deflateSync(lines, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function nearest(palette: readonly (readonly number[])[], colour: readonly number[]): number {
  const distances = palette.map((each) =>
    each.reduce((sum, value, channel) => sum + (value - (colour[channel] ?? 0)) ** 2, 0),
  );
  return distances.indexOf(Math.min(...distances));
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

function decoded(png: Buffer) {
  const parts: Buffer[] = [];
  let [width, height, channels] = [0, 0, 0];
  for (let at = SIGNATURE_BYTES; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') {
      [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)];
      channels = data[9] === 6 ? 4 : 3;
    }
    if (type === 'IDAT') parts.push(data);
    at += length + 12;
  }
  return { width, height, channels, pixels: unfiltered(inflateSync(Buffer.concat(parts)), width * channels, channels) };
}

/** Section 9 of the specification: each line begins with its filter, which refers to pixels to the left and above. */
function unfiltered(lines: Buffer, lineBytes: number, channels: number): Buffer {
  const height = lines.length / (lineBytes + 1);
  const pixels = Buffer.alloc(lineBytes * height);
  for (let y = 0; y < height; y += 1) {
    const filter = lines[y * (lineBytes + 1)];
    for (let x = 0; x < lineBytes; x += 1) {
      const at = y * lineBytes + x;
      const left = x < channels ? 0 : (pixels[at - channels] ?? 0);
      const above = y === 0 ? 0 : (pixels[at - lineBytes] ?? 0);
      const corner = x < channels || y === 0 ? 0 : (pixels[at - lineBytes - channels] ?? 0);
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter ?? 0] ?? 0;
      pixels[at] = (lines[y * (lineBytes + 1) + 1 + x] ?? 0) + guess;
    }
  }
  return pixels;
}

function paeth(left: number, above: number, corner: number): number {
  const [toLeft, toAbove, toCorner] = [above - corner, left - corner, left + above - 2 * corner].map(Math.abs);
  if (Number(toLeft) <= Number(toAbove) && Number(toLeft) <= Number(toCorner)) return left;
  return Number(toAbove) <= Number(toCorner) ? above : corner;
}

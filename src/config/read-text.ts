import { open } from 'node:fs/promises';

/**
 * Bounded while reading, not measured first: a pipe works, a growing file cannot pass.
 * @throws a system error, or an Error whose message is the state (`it is larger than 1048576 bytes`)
 */
export async function readText(file: string, bytesMax: number): Promise<string> {
  await using handle = await open(file, 'r');
  const buffer = Buffer.alloc(bytesMax + 1);
  let length = 0;
  while (length <= bytesMax) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  if (length > bytesMax) throw new UnusableText(`it is larger than ${bytesMax} bytes`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, length));
  } catch (error) {
    throw new UnusableText('it is not UTF-8 text', { cause: error });
  }
}

class UnusableText extends Error {
  override toString(): string {
    return this.message;
  }
}

import { DocshelfError } from '../../../domain/errors.ts';
import { BODY_BYTES_MAX } from '../../../domain/limits.ts';
import { collect } from '../../../files/index.ts';

const TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

/** @throws DocshelfError `unsupported_media_type`, `payload_too_large` */
export async function readForm(request: Request): Promise<URLSearchParams> {
  if (!TYPE.test(request.headers.get('content-type') ?? ''))
    throw new DocshelfError('unsupported_media_type', 'Cannot read the request: its body is not a form');
  const bytes = request.body === null ? Buffer.alloc(0) : await collect(request.body, BODY_BYTES_MAX);
  if (bytes !== null) return new URLSearchParams(bytes.toString());
  throw new DocshelfError('payload_too_large', 'Cannot read the request: the form is larger than 64 KiB', {
    fields: { bytesMax: BODY_BYTES_MAX },
  });
}

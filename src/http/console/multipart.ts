import { DocshelfError } from '../../domain/errors.ts';

export interface FormPart {
  readonly name: string;
  /** Name of the uploaded file. Null for a field without a file. Empty if the operator chose no file. */
  readonly fileName: string | null;
  readonly body: AsyncGenerator<Uint8Array<ArrayBuffer>, void>;
}

const MULTIPART_TYPE = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i;
const HEAD_BYTES_MAX = 16 * 1024;
const PARTS_MAX = 1_000;

/** Reads the parts of a form with files in sequence (RFC 7578). @throws DocshelfError `unsupported_media_type`, `bad_request` */
export async function* formParts(request: Request): AsyncGenerator<FormPart, void> {
  const found = MULTIPART_TYPE.exec(request.headers.get('content-type') ?? '');
  if (found === null || request.body === null)
    throw new DocshelfError('unsupported_media_type', 'Cannot read the request: its body is not a form with files');
  const bytes = new PartBytes(request.body, found[1] ?? found[2] ?? '');
  for await (const _ of bytes.untilBoundary());
  for (let count = 0; await bytes.hasPart(); count++) {
    if (count === PARTS_MAX) throw malformed(`it has more than ${PARTS_MAX} parts`);
    const head = await bytes.head();
    const body = bytes.untilBoundary();
    yield { name: parameterOf(head, 'name') ?? '', fileName: parameterOf(head, 'filename'), body };
    for await (const _ of body);
    for await (const _ of bytes.untilBoundary());
  }
}

class PartBytes {
  readonly #chunks: AsyncIterator<Uint8Array<ArrayBuffer>>;
  readonly #boundary: Buffer;
  /** Unread bytes. Begins with an added line break, because `#boundary` includes one, but a form can begin without a line break. */
  #kept: Buffer<ArrayBuffer> = Buffer.from('\r\n');
  #isAtBoundary = false;

  constructor(body: ReadableStream<Uint8Array<ArrayBuffer>>, boundary: string) {
    this.#chunks = body[Symbol.asyncIterator]();
    this.#boundary = Buffer.from(`\r\n--${boundary}`);
  }

  async *untilBoundary(): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    while (!this.#isAtBoundary) {
      const at = this.#kept.indexOf(this.#boundary);
      this.#isAtBoundary = at >= 0;
      const end = at >= 0 ? at : Math.max(0, this.#kept.length - this.#boundary.length + 1);
      const ready = this.#kept.subarray(0, end);
      this.#kept = this.#kept.subarray(at >= 0 ? at + this.#boundary.length : end);
      if (ready.length > 0) yield ready;
      else if (!this.#isAtBoundary) await this.#more();
    }
  }

  async hasPart(): Promise<boolean> {
    while (this.#kept.length < 2) await this.#more();
    return this.#kept.subarray(0, 2).toString() !== '--';
  }

  async head(): Promise<string> {
    for (;;) {
      const end = this.#kept.indexOf('\r\n\r\n');
      if (end >= 0) {
        const head = this.#kept.subarray(0, end).toString();
        this.#kept = this.#kept.subarray(end + 4);
        this.#isAtBoundary = false;
        return head;
      }
      if (this.#kept.length > HEAD_BYTES_MAX) throw malformed('the headers of a part are too long');
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    const { value, done } = await this.#chunks.next();
    if (done === true) throw malformed('the form is incomplete');
    this.#kept = Buffer.concat([this.#kept, value]);
  }
}

/** Decodes the quotes and line breaks that browsers percent-encode (HTML standard, section 4.10.21.8). */
function parameterOf(head: string, name: string): string | null {
  const written = new RegExp(`^content-disposition:[^\\r\\n]*;\\s*${name}="([^"]*)"`, 'im').exec(head)?.[1];
  if (written === undefined) return null;
  return written.replaceAll(/%(22|0D|0A)/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

function malformed(state: string): DocshelfError {
  return new DocshelfError('bad_request', `Cannot read the request: ${state}`);
}

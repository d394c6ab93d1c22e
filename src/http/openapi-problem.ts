import { DocshelfError, type ErrorCode } from '../domain/errors.ts';
import { problemOf, statusOf } from './problem.ts';

/** The problem document of `problem.ts` as JSON Schema (RFC 9457, section 3; contract, section 8). */
export const problemSchema = {
  type: 'object',
  description: 'A problem document of RFC 9457.',
  required: ['type', 'title', 'status', 'detail', 'error', 'code'],
  properties: {
    type: { const: 'about:blank' },
    title: { type: 'string', description: 'The phrase of the status.' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'What is wrong, one sentence.' },
    error: { type: 'string', description: 'The sentence of `detail` once more.' },
    code: { type: 'string', pattern: '^[a-z0-9_]+$', description: 'Name of the fault: what programs decide by.' },
    next: { type: 'string', description: 'What to do next.' },
    requestId: { type: 'string', description: 'As in `X-Request-Id`.' },
  },
};

export const requestIdHeader = {
  description: 'Id of the request; the log line of a failure has it. One that the client sends is kept.',
  schema: { type: 'string' },
};

export const retryAfterHeader = {
  description: 'Seconds until it is worth asking again.',
  schema: { type: 'integer', minimum: 1 },
};

const challengeHeader = { description: 'Always `Bearer`.', schema: { const: 'Bearer' } };

/** Answers by status, as an operation lists them. */
export type Answers = Readonly<Record<number, object>>;

/**
 * The answer to a fault, under its status, with the headers that come with that.
 *
 * @param message what such a fault may say
 * @param headers further ones
 */
export function faultAnswer(code: ErrorCode, description: string, message: string, headers: object = {}): Answers {
  const status = statusOf(code);
  return {
    [status]: {
      description,
      headers: {
        'X-Request-Id': requestIdHeader,
        ...(status === 401 ? { 'WWW-Authenticate': challengeHeader } : {}),
        ...(status === 429 || status === 503 ? { 'Retry-After': retryAfterHeader } : {}),
        ...headers,
      },
      content: {
        'application/problem+json': {
          schema: { $ref: '#/components/schemas/Problem' },
          example: problemOf(new DocshelfError(code, message), '0b54e7c4-0f0f-4a52-9d3c-5d7c2f0a7c11'),
        },
      },
    },
  };
}

/** What is JSON, by the name of its schema. */
export function jsonContent(schema: string, examples: Readonly<Record<string, unknown>>): object {
  const named = Object.entries(examples).map(([name, value]) => [name, { value }]);
  return {
    'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, examples: Object.fromEntries(named) },
  };
}

/** The faults that every call has for a key that does not fit. */
export function keyFaults(type: 'assistant' | 'admin', more = ''): Answers {
  return {
    ...faultAnswer(
      'unauthorized',
      'No key, a malformed header or an unknown key.',
      'Cannot answer: the request carries no key',
    ),
    ...faultAnswer(
      'forbidden',
      `The key is of another type${more}.`,
      `Cannot answer: the key is of type ${type === 'admin' ? 'assistant' : 'admin'}, and this takes ${type} keys`,
    ),
  };
}

/** The faults of a body that cannot be read at all. */
export function bodyFaults(headers: object = {}): Answers {
  return {
    ...faultAnswer(
      'payload_too_large',
      'The body is larger than 64 KiB.',
      'Cannot read the request: its body is larger than 64 KiB',
      headers,
    ),
    ...faultAnswer(
      'unsupported_media_type',
      'The body is not JSON.',
      'Cannot read the request: its body is not plain JSON',
      headers,
    ),
  };
}

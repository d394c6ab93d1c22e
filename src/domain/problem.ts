import type { ErrorCode } from './errors.ts';
import type { ShapeOf } from './shape.ts';

/** A problem document (RFC 9457, section 3) with the members of contract section 8. */
export const problemSchema = {
  title: 'Problem',
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
} as const;
export type Problem = Omit<ShapeOf<typeof problemSchema>, 'code'> & { readonly code: ErrorCode };

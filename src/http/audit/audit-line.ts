import { RFC3339, type ShapeOf, text, textOrNull } from '../../domain/shape.ts';
import { ACTOR_KINDS } from './actor.ts';

/** One change, or an attempt at one: who, what, from what to what, and how it ended. */
export const auditLineSchema = {
  title: 'AuditLine',
  type: 'object',
  required: [
    'at',
    'by',
    'id',
    'client',
    'requestId',
    'action',
    'site',
    'organization',
    'target',
    'from',
    'to',
    'result',
    'error',
  ],
  properties: {
    at: RFC3339,
    by: {
      type: 'string',
      enum: ACTOR_KINDS,
      description: 'By the admin token, a session of the console, the socket of the data folder, or an API key.',
    },
    id: textOrNull('Of the session or the API key.'),
    client: textOrNull('Address of the other end; null through the socket.'),
    requestId: textOrNull('As in `X-Request-Id` and the log.'),
    action: text(
      '`activate`, `rollback`, `remove`, `upload`, `signature`, `take-up`, `preview`, `reload`, `key-create`, `key-revoke`, `export-start`, `export-cancel`, `export-link`, `sign-in`, `sign-out` and others.',
    ),
    site: textOrNull('The domain.'),
    organization: textOrNull('Of a key, or of an export.'),
    target: textOrNull('What was acted on: a version, a file, the name of a key, a job.'),
    from: textOrNull('What was active before, or the key that there was.'),
    to: textOrNull('What is active since, or the key that there is.'),
    result: text('`ok`, or the code of the fault.'),
    error: textOrNull('The sentence of the fault.'),
  },
} as const;
export const auditPageSchema = {
  title: 'Audit',
  type: 'object',
  required: ['lines', 'before'],
  properties: {
    lines: { type: 'array', items: auditLineSchema, description: 'The newest first.' },
    before: textOrNull('What the next page is asked by; null at the end.'),
  },
} as const;

export type AuditLine = ShapeOf<typeof auditLineSchema>;
export type AuditPage = ShapeOf<typeof auditPageSchema>;

import type { Operation } from '../../domain/operation.ts';
import { auditPageSchema } from '../audit/audit.ts';
import { secret } from './operation-kinds.ts';

export const AUDIT_LIMIT_DEFAULT = 100;

const LIMIT = {
  type: 'integer',
  minimum: 1,
  maximum: 1000,
  description: `Lines of a page; ${AUDIT_LIMIT_DEFAULT} by default.`,
} as const;
const BEFORE = {
  type: 'string',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$',
  'x-expects': 'the time that the page before gave',
  description: '`before` of the page before.',
} as const;

export const auditOperation = {
  ...secret,
  tag: { name: 'Audit', description: 'Who changed what.' },
  id: 'audit',
  path: '/v1/audit',
  summary: 'List changes, newest first',
  query: {
    type: 'object',
    properties: {
      limit: LIMIT,
      before: BEFORE,
    },
    additionalProperties: false,
  },
  answers: { 200: { description: 'The lines.', schema: auditPageSchema } },
} as const satisfies Operation;

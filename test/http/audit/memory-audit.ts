import { type AuditLine, AuditTrail } from '../../../src/http/audit/audit.ts';

export const auditLine = (changes: Partial<AuditLine> = {}): AuditLine => ({
  at: '2026-11-23T14:37:04.154Z',
  by: 'session',
  id: '1a2b3c4d',
  client: '10.1.2.3',
  requestId: 'r-1',
  action: 'activate',
  site: 'acme',
  organization: null,
  target: null,
  from: 'v1',
  to: null,
  result: 'ok',
  error: null,
  ...changes,
});

/** In-memory audit trail, ordered by time. @param onStep called when a line is logged and when it is stored */
export function memoryAudit(onStep: (step: 'logged' | 'stored') => void = () => undefined) {
  const lines: AuditLine[] = [];
  const store = {
    append: async (line: AuditLine) => {
      onStep('stored');
      lines.push(line);
    },
    read: async () => ({ lines: lines.toReversed(), before: null }),
  };
  return { lines, audit: new AuditTrail(store, () => onStep('logged')) };
}

import type { SpanFacts } from '../../traces/tracer.ts';
import type { StoredJob } from '../ports.ts';

/** OpenTelemetry's semantic conventions for messaging spans. */
export const queueFacts = (operation: 'send' | 'process'): SpanFacts => ({
  'messaging.system': 'docshelf',
  'messaging.destination.name': 'exports',
  'messaging.operation.name': operation,
  'messaging.operation.type': operation,
});

export const jobFacts = ({ jobId, domain, version, organizationId }: StoredJob): SpanFacts => ({
  'messaging.message.id': jobId,
  'docshelf.domain': domain,
  'docshelf.version': version,
  'docshelf.organization': organizationId,
});

import type { DocshelfError, ErrorCode } from '../../domain/errors.ts';
import { counted } from '../../domain/text.ts';
import { DAY_MS, SOON_MS } from '../tls.ts';

type DiagnosisCheck =
  | 'config'
  | 'folder'
  | 'keys'
  | 'bundle'
  | 'space'
  | 'file'
  | 'daemon'
  | 'port'
  | 'link'
  | 'name'
  | 'reach'
  | 'certificate'
  | 'clock';

export interface Diagnosis {
  readonly check: DiagnosisCheck;
  readonly subject: string;
  readonly state: 'ok' | 'warning' | 'fault' | 'skipped';
  readonly message: string;
  readonly next: string | null;
  /** Error code, or null. A failed check of a server or link that docshelf does not need now is a warning with a code. */
  readonly code: ErrorCode | null;
}

export function sound(check: DiagnosisCheck, subject: string, message: string): Diagnosis {
  return { check, subject, state: 'ok', message, next: null, code: null };
}

export function warning(check: DiagnosisCheck, subject: string, message: string, next: string): Diagnosis {
  return { check, subject, state: 'warning', message, next, code: null };
}

export function skipped(
  check: DiagnosisCheck,
  subject: string,
  message: string,
  next: string | null = null,
): Diagnosis {
  return { check, subject, state: 'skipped', message, next, code: null };
}

export function faulty(
  check: DiagnosisCheck,
  subject: string,
  { code, message, next }: Pick<DocshelfError, 'code' | 'message'> & { readonly next?: string | undefined },
): Diagnosis {
  return { check, subject, state: 'fault', message, next: next ?? null, code };
}

export function certificateState(subject: string, whose: string, endsAtMs: number, nowMs: number): Diagnosis {
  const day = new Date(endsAtMs).toISOString().slice(0, 10);
  if (endsAtMs <= nowMs) {
    const message = `${whose} has a certificate that expired on ${day}`;
    const next =
      'Ask the operator of the server to renew the certificate. Until then, docshelf cannot fetch from this server.';
    return faulty('certificate', subject, { code: 'source_unreachable', message, next });
  }
  const days = Math.floor((endsAtMs - nowMs) / DAY_MS);
  const state = `${whose} has a certificate that expires on ${day} (in ${counted(days, 'day')}).`;
  if (endsAtMs - nowMs < SOON_MS)
    return warning(
      'certificate',
      subject,
      state,
      'Ask the operator of the server to renew the certificate before that day.',
    );
  return sound('certificate', subject, state);
}

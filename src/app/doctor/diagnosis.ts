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
  /** Error code of a failed check, else null. A warning about a failed server or link that is not needed now also has a code. */
  readonly code: ErrorCode | null;
}

type Fault = Pick<DocshelfError, 'code' | 'message'> & { readonly next?: string | undefined };

/** Returns functions that build a diagnosis of the given check and subject, one for each state. */
export function about(check: DiagnosisCheck, subject: string) {
  const diagnosis = { check, subject, next: null, code: null };
  return {
    sound: (message: string): Diagnosis => ({ ...diagnosis, state: 'ok', message }),
    warning: (message: string, next: string): Diagnosis => ({ ...diagnosis, state: 'warning', message, next }),
    skipped: (message: string, next: string | null): Diagnosis => ({ ...diagnosis, state: 'skipped', message, next }),
    faulty: ({ code, message, next }: Fault): Diagnosis => ({
      ...diagnosis,
      state: 'fault',
      message,
      next: next ?? null,
      code,
    }),
  };
}

export function certificateState(subject: string, whose: string, endsAtMs: number, nowMs: number): Diagnosis {
  const { sound, warning, faulty } = about('certificate', subject);
  const day = new Date(endsAtMs).toISOString().slice(0, 10);
  if (endsAtMs <= nowMs) {
    const message = `${whose} has a certificate that expired on ${day}`;
    const next =
      'Ask the operator of the server to renew the certificate. Until then, docshelf cannot fetch from this server.';
    return faulty({ code: 'source_unreachable', message, next });
  }
  const days = Math.floor((endsAtMs - nowMs) / DAY_MS);
  const state = `${whose} has a certificate that expires on ${day} (in ${counted(days, 'day')}).`;
  return endsAtMs - nowMs < SOON_MS
    ? warning(state, 'Ask the operator of the server to renew the certificate before that day.')
    : sound(state);
}

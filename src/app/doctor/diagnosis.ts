import { DocshelfError, type ErrorCode } from '../../domain/errors.ts';
import { counted } from '../../domain/text.ts';

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
  /** `skipped`: not checked; the message says why. */
  readonly state: 'ok' | 'warning' | 'fault' | 'skipped';
  readonly message: string;
  readonly next: string | null;
  /** Also of a warning that would be a fault elsewhere. */
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

/** @param isNeeded false: nothing depends on it now, a warning is enough */
export function faulty(check: DiagnosisCheck, subject: string, error: DocshelfError, isNeeded = true): Diagnosis {
  const { code, message, next = null } = error;
  return { check, subject, state: isNeeded ? 'fault' : 'warning', message, next, code };
}

const DAY_MS = 86_400_000;
/** Time for a person to get another one. */
const SOON_MS = 21 * DAY_MS;

export function certificateState(subject: string, whose: string, endsAtMs: number, nowMs: number): Diagnosis {
  const day = new Date(endsAtMs).toISOString().slice(0, 10);
  if (endsAtMs <= nowMs) {
    const error = new DocshelfError('source_unreachable', `${whose} has a certificate that ended on ${day}`, {
      next: 'Have it renewed by who runs the server; until then nothing is fetched from there.',
    });
    return faulty('certificate', subject, error);
  }
  const days = Math.floor((endsAtMs - nowMs) / DAY_MS);
  const state = `${whose} has a certificate until ${day} (${counted(days, 'day')}).`;
  if (endsAtMs - nowMs < SOON_MS) return warning('certificate', subject, state, 'Have it renewed before that day.');
  return sound('certificate', subject, state);
}

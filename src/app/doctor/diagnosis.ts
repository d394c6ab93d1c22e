import type { DocshelfError, ErrorCode } from '../../domain/errors.ts';

export type DiagnosisCheck =
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

import { DocshelfError } from '../../domain/errors.ts';
import { counted } from '../../domain/text.ts';
import { type Diagnosis, faulty, sound, warning } from './diagnosis.ts';

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

import type { ArchiveLimits } from '../domain/limits.ts';
import type { Refuse } from './rules.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** C0, DEL and C1: no site needs them, and they forge lines in logs and terminals. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

export function decodeName(bytes: Uint8Array, refuse: Refuse): string {
  try {
    return UTF8.decode(bytes);
  } catch (cause) {
    throw refuse('name_not_utf8', 'has a name that is not UTF-8', {
      entry: Buffer.from(bytes).toString('utf8'),
      cause,
    });
  }
}

/** The root (`.`, `./`) is empty; no leading `./`, no trailing slash. @throws DocshelfError a `name_*` code */
export function canonicalName(raw: string, limits: ArchiveLimits, refuse: Refuse): string {
  const refused = (code: Parameters<Refuse>[0], state: string) => refuse(code, state, { entry: raw });
  if (raw === '') throw refused('name_empty', 'has no name');
  if (CONTROL.test(raw)) throw refused('name_control', 'has a control character in its name');
  if (/^(?:\\\\|\/\/)/.test(raw)) throw refused('name_unc', 'is a network path');
  if (/^(?:\.\/)*[A-Za-z]:/.test(raw)) throw refused('name_drive', 'begins with a drive letter');
  if (raw.startsWith('/')) throw refused('name_absolute', 'has an absolute name');
  if (raw.includes('\\')) throw refused('name_backslash', 'has a backslash in its name');

  const name = raw === '.' ? '' : raw.replace(/^(?:\.\/)+/, '').replace(/\/$/, '');
  if (name === '') return name;
  if (Buffer.byteLength(name) > limits.nameBytesMax) {
    throw refused('name_too_long', `has a name of more than ${limits.nameBytesMax} bytes`);
  }
  const segments = name.split('/');
  if (segments.length > limits.depthMax) throw refused('name_too_deep', `is more than ${limits.depthMax} levels deep`);
  for (const segment of segments) {
    if (segment === '..') throw refused('name_dotdot', 'leaves the site');
    if (segment === '' || segment === '.') throw refused('name_empty', 'has an empty part in its name');
    if (Buffer.byteLength(segment) > limits.segmentBytesMax) {
      throw refused('name_segment_too_long', `has a part of more than ${limits.segmentBytesMax} bytes in its name`);
    }
  }
  return name;
}

import type { Config } from '../../config/index.ts';
import { certificateFindings, presentedCertificates } from '../tls.ts';
import { type Diagnosis, sound, warning } from './diagnosis.ts';

/** Of our own listeners. That files can be read and fit is a rule of the config. */
export function checkCertificates(config: Config, nowMs: number): Diagnosis[] {
  const found = certificateFindings(config, nowMs).map(({ setting, message, next }) =>
    warning('certificate', setting, message, next),
  );
  const told = new Set(found.map(({ subject }) => subject));
  return [
    ...found,
    ...presentedCertificates(config)
      .filter(({ setting }) => !told.has(setting))
      .map(({ setting, file, endsAtMs }) =>
        sound('certificate', setting, `"${file}" is valid until ${new Date(endsAtMs).toISOString().slice(0, 10)}.`),
      ),
  ];
}

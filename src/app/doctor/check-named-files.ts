import { X509Certificate } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import { type LoadedConfig, valueAt } from '../../config/index.ts';
import { NamedFile } from '../../config/named-files.ts';
import { listKeys } from '../../config/schema-node.ts';
import { DocshelfError, toDocshelfError } from '../../domain/errors.ts';
import { certificateState } from './certificate-state.ts';
import { type Diagnosis, faulty, sound, warning } from './diagnosis.ts';

/** Who else may read the secret ones, and when authorities end. */
export async function checkNamedFiles({ config, file: configFile, origins }: LoadedConfig): Promise<Diagnosis[]> {
  const found: Diagnosis[] = [];
  for (const { path, schema } of listKeys()) {
    const value = valueAt(config, path);
    if (value === null || Array.isArray(value)) continue;
    const file = String(value instanceof NamedFile ? value.path : value);
    const key = path.join('.');
    // That it is there and sound is a rule of the config.
    if (schema['x-names'] === 'secret') found.push(await checkSecret(key, file));
    if (schema['x-names'] === 'certificates') found.push(...(await checkAuthorities(key, file)));
  }
  // A credential that stands in the config file makes it a secret itself.
  const holdsSecret = listKeys().some(
    ({ path, schema }) => schema['x-unit'] === 'secret' && /:\d+:\d+$/.test(origins.get(path.join('.')) ?? ''),
  );
  if (configFile !== null && holdsSecret) found.push(await checkSecret('the config file', configFile));
  return found;
}

async function checkSecret(subject: string, file: string): Promise<Diagnosis> {
  try {
    const isMounted = isKubernetesVolume(await realpath(file));
    const mode = (await stat(file)).mode & 0o777;
    // A mounted Secret is readable for all by default, and "all" are the processes of its container.
    if ((mode & 0o007) === 0 || isMounted) return sound('file', subject, `"${file}" is there.`);
    const state = `"${file}" holds a secret, and everybody on this machine may read it (mode ${mode.toString(8)}).`;
    return warning('file', subject, state, `chmod 600 "${file}"`);
  } catch (error) {
    return faulty('file', subject, toDocshelfError(error));
  }
}

/** Secrets and ConfigMaps are mounted through a folder such as `..2024_06_01_…`. */
function isKubernetesVolume(path: string): boolean {
  return /\/\.\.[^/]/.test(path);
}

async function checkAuthorities(subject: string, file: string): Promise<Diagnosis[]> {
  const pem = await readFile(file, 'utf8').catch(() => '');
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) return [faulty('certificate', subject, noCertificate(subject, file))];
  return blocks.map((block) => {
    try {
      const { subject: name, validTo } = new X509Certificate(block);
      return certificateState(subject, `The authority ${oneLine(name)}`, Date.parse(validTo), Date.now());
    } catch {
      return faulty('certificate', subject, noCertificate(subject, file));
    }
  });
}

function oneLine(name: string): string {
  return name.replaceAll('\n', ', ');
}

function noCertificate(setting: string, file: string): DocshelfError {
  return new DocshelfError('config_invalid', `Cannot use "${file}" as ${setting}: it holds no sound PEM certificate`, {
    next: 'Put the certificates of your authority into it, each between its BEGIN and END lines.',
  });
}

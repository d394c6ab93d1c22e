import { readFile } from 'node:fs/promises';
import { DocshelfError, errnoOf } from '../../../domain/errors.ts';
import { Secret } from '../../../domain/secret.ts';

export interface RegistryCredentials {
  readonly user: string;
  readonly password: Secret;
}

/** `docker login` writes it, and a Kubernetes Secret of type kubernetes.io/dockerconfigjson holds it. */
interface DockerConfig {
  readonly auths?: Readonly<
    Record<string, { readonly auth?: unknown; readonly username?: unknown; readonly password?: unknown }>
  >;
}

/**
 * The credentials for a registry in a docker config.json. Read when a registry asks: a rotated file counts from then on.
 *
 * @param registry `host` or `host:port`
 * @returns null where there is no file, or it has nothing for that registry
 * @throws DocshelfError `cannot_read`.
 */
export async function readCredentials(file: string | null, registry: string): Promise<RegistryCredentials | null> {
  if (file === null) return null;
  const { auths = {} } = await readConfig(file);
  const entry = Object.entries(auths).find(([name]) => hostOf(name) === registry)?.[1];
  if (entry === undefined) return null;
  if (typeof entry.username === 'string' && typeof entry.password === 'string') {
    return { user: entry.username, password: new Secret(entry.password) };
  }
  if (typeof entry.auth !== 'string') return null;
  const [, user, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(entry.auth, 'base64').toString('utf8')) ?? [];
  if (user === undefined || password === undefined) {
    throw cannotRead(file, `its entry for ${registry} is no user and password in base64`, null);
  }
  // Older tools padded with NUL.
  return { user, password: new Secret(password.replace(/\0+$/, '')) };
}

/** Names stand there as hosts, and as links: `https://registry.example/v2/`. */
function hostOf(name: string): string {
  return name
    .replace(/^https?:\/\//, '')
    .replace(/\/.*$/, '')
    .toLowerCase();
}

async function readConfig(file: string): Promise<DockerConfig> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw cannotRead(file, errnoOf(error) ?? 'failed', error);
  }
  try {
    return JSON.parse(text) as DockerConfig;
  } catch {
    // No cause: the parser's message quotes the text.
    throw cannotRead(file, 'it is no JSON', null);
  }
}

function cannotRead(file: string, state: string, cause: unknown): DocshelfError {
  return new DocshelfError('cannot_read', `Cannot read the credentials in "${file}": ${state}`, {
    next: 'network.registryAuthFile names a docker config.json: {"auths": {"registry.example": {"auth": "…"}}}.',
    fields: { retryable: false },
    ...(cause === null ? {} : { cause }),
  });
}

import { Agent, type AgentOptions } from 'node:http';
import { Agent as TlsAgent, type AgentOptions as TlsOptions } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { GetObjectCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { fromTokenFile } from '@aws-sdk/credential-provider-web-identity';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { S3Link } from '../domain/bundle-link.ts';
import { bareHost, portOf, type S3Place, urlHost } from '../domain/egress.ts';
import { Secret } from '../domain/secret.ts';
import { authoritiesOf } from './certificates.ts';
import type { EgressPolicy } from './egress.ts';
import { gatedFetch, type HttpClient } from './http-client.ts';

type Credentials = Extract<S3ClientConfig['credentials'], (...given: never[]) => unknown>;

export function s3ConfigOf({ endpoint, pathStyle, ...place }: S3Place) {
  const region = place.region ?? (endpoint === null ? null : 'us-east-1');
  return {
    ...(region === null ? {} : { region }),
    ...(endpoint === null ? {} : { endpoint }),
    // Use path style for an IP address. A bucket name in front of the address would make an invalid URL.
    forcePathStyle: pathStyle || (endpoint !== null && isIP(bareHost(new URL(endpoint).hostname)) !== 0),
    // Turn off the SDK's checksums, which older services reject. docshelf sends its own checksums with uploads.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  } as const;
}

/** Reads `caFile` for each new connection, because the file can change. @throws DocshelfError `cannot_read`, `config_invalid` */
export function openS3Client(
  policy: EgressPolicy,
  config: Omit<S3ClientConfig, 'requestHandler'>,
  timeouts: { readonly connectionTimeout: number; readonly socketTimeout: number },
  caSetting: string,
): S3Client {
  const authorities = (): TlsOptions => authoritiesOf(policy.rules.caFile, caSetting);
  authorities();
  const requestHandler = {
    ...timeouts,
    httpAgent: guarded(policy, new Agent({ keepAlive: true }), { protocol: 'http:' }),
    // Resume no TLS session, because a resumed session would still trust the former certificate authorities.
    httpsAgent: guarded(policy, new TlsAgent({ keepAlive: true, maxCachedSessions: 0 }), {
      protocol: 'https:',
      authorities,
    }),
  };
  const credentials = config.credentials ?? environmentOf(requestHandler);
  // Use `legacy` instead of `auto`. With `auto`, the SDK requests the region from the metadata service of the machine.
  return new S3Client({ ...config, credentials, requestHandler, defaultsMode: 'legacy' });
}

/** Replaces the SDK's default credentials, which contact metadata services and single sign-on without the egress policy. */
function environmentOf(requestHandler: NonNullable<S3ClientConfig['requestHandler']>): Credentials {
  const role = fromTokenFile({ clientConfig: { requestHandler, defaultsMode: 'legacy' } });
  return async (properties) => {
    const env = process.env;
    const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
    if (!accessKeyId || !secretAccessKey) return role(properties);
    return {
      accessKeyId,
      secretAccessKey,
      ...(env.AWS_SESSION_TOKEN ? { sessionToken: env.AWS_SESSION_TOKEN } : {}),
      ...(env.AWS_CREDENTIAL_EXPIRATION ? { expiration: new Date(env.AWS_CREDENTIAL_EXPIRATION) } : {}),
    };
  };
}

type Connecting = AgentOptions & { readonly host?: string; readonly port?: number | string };

type Guard = { readonly protocol: 'http:' | 'https:'; authorities?(): TlsOptions };

/** Checks the host name before the agent resolves it, and each resolved address before the socket connects. */
function guarded<Made extends Agent>(policy: EgressPolicy, agent: Made, { protocol, authorities }: Guard): Made {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options: Connecting, callback) => {
    const hostname = urlHost(options.host ?? '');
    const endpoint = { hostname, protocol, port: String(options.port ?? '') };
    const refusal = policy.refusalOf(endpoint);
    if (refusal !== null) throw refusal;
    const lookup = policy.lookupFor(hostname, portOf(endpoint));
    return connect({ ...options, ...authorities?.(), lookup } as AgentOptions, callback) as Socket;
  };
  return agent;
}

/** Seconds for which a signed link is valid. Amazon checks only the start of a download. An hour tolerates a clock that is behind. */
const SIGNED_S = 3600;

/** Signs links with the credentials in the environment. Contacts only STS, through the given `HttpClient`. */
export class S3Signer {
  readonly #client: S3Client;

  constructor(place: S3Place, http: HttpClient) {
    const requestHandler = handlerOver(http);
    const credentials = environmentOf(requestHandler);
    this.#client = new S3Client({ ...s3ConfigOf(place), credentials, requestHandler, defaultsMode: 'legacy' });
  }

  /**
   * Signs a GET request, which is then valid for an hour.
   * @param nowMs current time in milliseconds since 1970
   * @throws errors of the AWS SDK, and those of `HttpClient.get`
   */
  async linkTo({ bucket, key }: S3Link, nowMs: number): Promise<Secret> {
    const get = new GetObjectCommand({ Bucket: bucket, Key: key });
    return new Secret(await getSignedUrl(this.#client, get, { expiresIn: SIGNED_S, signingDate: new Date(nowMs) }));
  }
}

interface SdkRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

function handlerOver(http: HttpClient) {
  const ask = gatedFetch(async () => http);
  return {
    handle: async ({ protocol, hostname, port, path, ...message }: SdkRequest) => {
      const answer = await ask(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`, message);
      const body = Readable.from([Buffer.from(await answer.arrayBuffer())]);
      return { response: { statusCode: answer.status, headers: Object.fromEntries(answer.headers), body } };
    },
  };
}

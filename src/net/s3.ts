import { Agent, type AgentOptions } from 'node:http';
import { Agent as TlsAgent, type AgentOptions as TlsOptions } from 'node:https';
import type { Socket } from 'node:net';
import { getCACertificates } from 'node:tls';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { fromTokenFile } from '@aws-sdk/credential-provider-web-identity';
import { portOf, urlHost } from '../domain/egress.ts';
import { readCertificates } from './certificates.ts';
import type { EgressPolicy } from './egress.ts';

type Credentials = Extract<S3ClientConfig['credentials'], (...given: never[]) => unknown>;

/**
 * Credentials that the config lacks come from the environment, see `environmentOf`.
 * `caFile` is read for each connection, so that one that was changed holds; faults name it by `caSetting`.
 * @throws DocshelfError `cannot_read`, `config_invalid`
 */
export function openS3Client(
  policy: EgressPolicy,
  config: Omit<S3ClientConfig, 'requestHandler'>,
  timeouts: { readonly connectionTimeout: number; readonly socketTimeout: number },
  caSetting: string,
): S3Client {
  const authorities = (): TlsOptions => {
    const { caFile } = policy.rules;
    return caFile === null ? {} : { ca: [...getCACertificates('default'), readCertificates(caFile, caSetting)] };
  };
  authorities();
  const requestHandler = {
    ...timeouts,
    httpAgent: guarded(policy, new Agent({ keepAlive: true }), { protocol: 'http:' }),
    // A session taken up again would be of the authorities that it began with.
    httpsAgent: guarded(policy, new TlsAgent({ keepAlive: true, maxCachedSessions: 0 }), {
      protocol: 'https:',
      authorities,
    }),
  };
  const credentials = config.credentials ?? environmentOf(requestHandler);
  // An `auto` of the environment asks the machine's metadata service for its region.
  return new S3Client({ ...config, credentials, requestHandler, defaultsMode: 'legacy' });
}

/**
 * Keys, else a role by a web identity, of which STS is asked through the gate. The SDK's own chain also asks metadata
 * services and single sign-on, by sockets of its own.
 */
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

interface Guard {
  readonly protocol: 'http:' | 'https:';
  /** For each connection. */
  authorities?(): TlsOptions;
}

/** As for fetches: the host by its name, each of its addresses when the socket opens. */
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

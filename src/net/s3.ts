import { Agent, type AgentOptions } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { Socket } from 'node:net';
import { getCACertificates } from 'node:tls';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { portOf, urlHost } from '../domain/egress.ts';
import { readCertificates } from './certificates.ts';
import type { EgressPolicy } from './egress.ts';

/** Reads `caFile` once, which `caSetting` names in faults. @throws DocshelfError `cannot_read`, `config_invalid` */
export function openS3Client(
  policy: EgressPolicy,
  config: Omit<S3ClientConfig, 'requestHandler'>,
  timeouts: { readonly connectionTimeout: number; readonly socketTimeout: number },
  caSetting: string,
): S3Client {
  const { caFile } = policy.rules;
  const ca = caFile === null ? {} : { ca: [...getCACertificates('default'), readCertificates(caFile, caSetting)] };
  const requestHandler = {
    ...timeouts,
    httpAgent: guarded(policy, new Agent({ keepAlive: true }), 'http:'),
    httpsAgent: guarded(policy, new TlsAgent({ keepAlive: true, ...ca }), 'https:'),
  };
  return new S3Client({ ...config, requestHandler });
}

type Connecting = AgentOptions & { readonly host?: string; readonly port?: number | string };

/** As for fetches: the host by its name, each of its addresses when the socket opens. */
function guarded<Made extends Agent>(policy: EgressPolicy, agent: Made, protocol: 'http:' | 'https:'): Made {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options: Connecting, callback) => {
    const hostname = urlHost(options.host ?? '');
    const endpoint = { hostname, protocol, port: String(options.port ?? '') };
    const refusal = policy.refusalOf(endpoint);
    if (refusal !== null) throw refusal;
    const lookup = policy.lookupFor(hostname, portOf(endpoint));
    return connect({ ...options, lookup } as AgentOptions, callback) as Socket;
  };
  return agent;
}

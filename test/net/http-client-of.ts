import type { EgressRules } from '../../src/domain/egress.ts';
import { EgressPolicy } from '../../src/net/egress.ts';
import { HttpClient, type HttpClientBounds } from '../../src/net/http-client.ts';
import { onFileEnd } from '../helpers/file-end.ts';

/** Returns egress rules without restrictions and with short time limits, with the changes of a test. */
export function egressRulesOf(rules: Partial<EgressRules> = {}): EgressRules {
  return {
    allowedHosts: [],
    allowsUnnamed: (rules.allowedHosts ?? []).length === 0,
    allowPrivate: true,
    ownPorts: [],
    connectTimeoutMs: 2000,
    idleTimeoutMs: 2000,
    proxy: 'off',
    caFile: null,
    ...rules,
  };
}

export type ClientSettings = Partial<EgressRules & HttpClientBounds>;

/** Creates a client, which is closed after the last test of the file. */
export function httpClientOf({ totalTimeoutMs = 10_000, redirectsMax = 3, ...rules }: ClientSettings = {}): HttpClient {
  const client = new HttpClient(new EgressPolicy(egressRulesOf(rules)), { totalTimeoutMs, redirectsMax });
  onFileEnd(() => client.close());
  return client;
}

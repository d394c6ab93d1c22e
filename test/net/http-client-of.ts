import { HttpClient, type HttpClientSettings } from '../../src/net/http-client.ts';

/** A client with short bounds, for tests; what a test is about it gives itself. */
export function httpClientOf(settings: Partial<HttpClientSettings> = {}): HttpClient {
  return new HttpClient({
    connectTimeoutMs: 2000,
    idleTimeoutMs: 2000,
    totalTimeoutMs: 10_000,
    redirectsMax: 3,
    proxy: 'off',
    caFile: null,
    allowedHosts: [],
    allowNone: false,
    allowPrivate: true,
    ...settings,
  });
}

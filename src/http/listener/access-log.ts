import { remoteAddressBehind } from './remote-address.ts';
import type { ServedRequest } from './served-request.ts';

interface AccessLogOptions {
  readonly write: (facts: AccessFacts, message: string) => void;
  readonly trustedProxies: readonly string[];
}

export interface AccessFacts extends Omit<ServedRequest, 'peer' | 'forwardedFor'> {
  readonly event: 'request';
  readonly remoteAddress: string;
}

/** A path may have 16 KiB. */
const PATH_LENGTH_MAX = 1024;

export function accessLog({ write, trustedProxies }: AccessLogOptions): (served: ServedRequest) => void {
  const remoteAddress = remoteAddressBehind(trustedProxies);
  return ({ peer, forwardedFor, durationMs, path, ...served }) => {
    const shownPath = path.length > PATH_LENGTH_MAX ? `${path.slice(0, PATH_LENGTH_MAX)}…` : path;
    const facts: AccessFacts = {
      event: 'request',
      ...served,
      path: shownPath,
      durationMs: Math.round(durationMs * 1000) / 1000,
      remoteAddress: remoteAddress(peer, forwardedFor),
    };
    write(facts, `${served.method} ${shownPath} ${served.status}`);
  };
}

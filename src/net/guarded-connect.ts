import dns from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressGuard } from './guarded-address.ts';

/** A connection that the guard does not let through. The message names the host, and no address of the inside. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
  readonly code = 'ADDRESS_REFUSED';

  constructor(host: string) {
    super(`the address of "${host}" is not one that may be asked`);
  }
}

/**
 * Opens connections to addresses that the guard allows and to no others. Names are looked up here, and the socket connects
 * to what was checked: a name that answers differently the next time gains nothing. The address of the open socket is looked
 * at once more.
 */
export function guardedConnect(guard: AddressGuard, options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector({ ...options, lookup: guardedLookup(guard) });
  return (target, callback) => {
    const refusal = refusalOfHost(guard, target.hostname);
    if (refusal !== null) {
      callback(refusal, null);
      return;
    }
    connect(target, (error, socket) => {
      if (error !== null) return callback(error, null);
      if (guard.allows(socket.remoteAddress ?? '')) return callback(null, socket);
      socket.destroy();
      return callback(new AddressRefused(target.hostname), null);
    });
  };
}

/** Why a host is refused by what it says itself, without being looked up; null where it may go on. */
export function refusalOfHost(guard: AddressGuard, host: string): AddressRefused | null {
  const bare = host.replace(/^\[|\]$/g, '');
  const isRefused = guard.isMetadataHost(bare) || (isIP(bare) !== 0 && !guard.allows(bare));
  return isRefused ? new AddressRefused(host) : null;
}

/** Looks a name up and gives the addresses that are allowed. */
export function guardedLookup(guard: AddressGuard): LookupFunction {
  return (hostname, options, callback) => {
    dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const allowed = addresses.filter(({ address }) => guard.allows(address));
      const [first] = allowed;
      if (first === undefined) return callback(new AddressRefused(hostname), []);
      return options.all === true ? callback(null, allowed) : callback(null, first.address, first.family);
    });
  };
}

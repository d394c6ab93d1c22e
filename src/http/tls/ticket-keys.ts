import { createHmac, randomBytes } from 'node:crypto';
import type { KeyPair } from './served-certificates.ts';

const SECRET_BYTES = 48;

/**
 * Keys of session tickets, the same for all processes of a port: 48 bytes, for their name, HMAC and AES. Other certificates have
 * other keys, so that no session outlives them. Node holds one at a time: who comes back after a change shakes hands in full.
 */
export class TicketKeys {
  #secret = randomBytes(SECRET_BYTES);

  of(pairs: readonly KeyPair[]): Buffer {
    const mac = createHmac('sha384', this.#secret);
    return mac.update(JSON.stringify(pairs.map(({ chain, key }) => [chain, key.reveal()]))).digest();
  }

  renew(): void {
    this.#secret = randomBytes(SECRET_BYTES);
  }
}

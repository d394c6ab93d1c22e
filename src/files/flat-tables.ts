/** Returns the first position from 0 to `length` for which `isBefore` is false, by binary search. */
export function firstFrom(length: number, isBefore: (at: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Hash of a text for a hash table. The random salt prevents an attacker from choosing texts that share a slot. */
export function saltedHash(salt: number, text: string): number {
  let hash = salt;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  return hash >>> 0;
}

type Numbers = Uint8Array | Uint16Array | Uint32Array | Float64Array;

export function roomFor<Kind extends Numbers>(numbers: Kind, count: number): Kind {
  if (count <= numbers.length) return numbers;
  const more = new (numbers.constructor as new (length: number) => Kind)(Math.max(count, numbers.length * 2));
  more.set(numbers);
  return more;
}

/** Hash table with open addressing, at most half full. */
export class HashSlots {
  #slots = new Uint32Array(2 * 1024);
  #used = 0;

  find(hash: number, isIt: (number: number) => boolean): number {
    const slots = this.#slots;
    for (let at = placeIn(slots, hash); slots[at + 1] !== 0; at = (at + 2) & (slots.length - 1)) {
      const number = (slots[at + 1] as number) - 1;
      if (slots[at] === hash && isIt(number)) return number;
    }
    return -1;
  }

  add(hash: number, number: number): void {
    this.#used += 1;
    if (this.#used * 4 > this.#slots.length) {
      const former = this.#slots;
      this.#slots = new Uint32Array(former.length * 2);
      for (let at = 0; at < former.length; at += 2) {
        if (former[at + 1] !== 0) put(this.#slots, former[at] as number, former[at + 1] as number);
      }
    }
    put(this.#slots, hash, number + 1);
  }
}

const placeIn = (slots: Uint32Array, hash: number): number => (hash * 2) & (slots.length - 1);

function put(slots: Uint32Array, hash: number, value: number): void {
  let at = placeIn(slots, hash);
  while (slots[at + 1] !== 0) at = (at + 2) & (slots.length - 1);
  slots[at] = hash;
  slots[at + 1] = value;
}

import { ADDRESS_ROWS } from './address-rows.ts';
import { CONDITION_ROWS } from './condition-rows.ts';
import { ENCODING_ROWS } from './encoding-rows.ts';
import { MESSAGE_ROWS } from './message-rows.ts';
import { METHOD_ROWS } from './method-rows.ts';
import { RANGE_ROWS } from './range-rows.ts';
import type { Row } from './row.ts';

/** Written from RFC 9110, RFC 9112 and the contract, independent of docshelf's code. */
export const TABLES: readonly (readonly [name: string, rows: readonly Row[]])[] = [
  ['ranges', RANGE_ROWS],
  ['conditions', CONDITION_ROWS],
  ['encodings', ENCODING_ROWS],
  ['methods', METHOD_ROWS],
  ['messages', MESSAGE_ROWS],
  ['addresses', ADDRESS_ROWS],
];

import { KEY_TYPES } from '../../domain/organization.ts';
import { type ShapeOf, text, textOrNull } from '../../domain/shape.ts';

const organization = text('The organization that it belongs to.');
const type = {
  type: 'string',
  enum: KEY_TYPES,
  description: '`admin`: a secret that may export; `assistant`: public, may search.',
} as const;
const name = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  pattern: '^[^\\p{C}\\p{Zl}\\p{Zp}]*$',
  'x-trim': true,
  'x-expects': 'text of one line, without control characters',
  description: 'For people: what the key is for.',
} as const;

const listed = {
  id: text('What it is revoked by; of a key of the config the id there.'),
  organization,
  type,
  name: text('For people; of a key of the config its id.'),
  createdAt: textOrNull('RFC 3339, UTC; null of a key of the config.'),
  expiresAt: textOrNull('RFC 3339, UTC; null where it does not expire.'),
  expired: { type: 'boolean', description: 'True where it is refused for its age.' },
  lastUsedAt: textOrNull('RFC 3339, UTC, to the minute; null where no use is known.'),
  readOnly: { type: 'boolean', description: 'True of a key of the config, which is revoked there.' },
} as const;
const MEMBERS = [
  'id',
  'organization',
  'type',
  'name',
  'createdAt',
  'expiresAt',
  'expired',
  'lastUsedAt',
  'readOnly',
] as const;

const listedKeySchema = { title: 'Key', type: 'object', required: MEMBERS, properties: listed } as const;
export const keyListSchema = {
  title: 'Keys',
  type: 'object',
  required: ['keys'],
  properties: { keys: { type: 'array', items: listedKeySchema } },
} as const;
export const createdKeySchema = {
  title: 'CreatedKey',
  type: 'object',
  required: [...MEMBERS, 'key'],
  properties: { ...listed, key: text('The key, this once: what is stored is its SHA-256 digest.') },
} as const;
export const newKeySchema = {
  title: 'NewKey',
  type: 'object',
  required: ['organization', 'type', 'name'],
  properties: {
    organization: { ...organization, minLength: 1, maxLength: 128 },
    type,
    name,
    expiresAt: {
      type: ['string', 'null'],
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?(Z|[+-]\\d\\d:\\d\\d)$',
      'x-expects': 'a time with its zone, such as 2027-01-31T12:00:00Z',
      description: 'RFC 3339; from then on the key is refused. Without it the key does not expire.',
    },
  },
  additionalProperties: false,
} as const;

export type ListedKey = ShapeOf<typeof listedKeySchema>;
export type CreatedKey = ShapeOf<typeof createdKeySchema>;
export type NewKey = ShapeOf<typeof newKeySchema>;

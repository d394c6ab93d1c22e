import { KEY_TYPES } from '../../domain/organization.ts';
import { objectOf, type ShapeOf, text, textOrNull } from '../../domain/shape.ts';

const organization = text('Organization that owns the key.');
const type = {
  type: 'string',
  enum: KEY_TYPES,
  description: '`admin` is secret and can export. `assistant` is public and can search.',
} as const;
const name = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  pattern: '^[^\\p{C}\\p{Zl}\\p{Zp}]*$',
  'x-trim': true,
  'x-expects': 'text of one line, without control characters',
  description: 'Name for people, such as the purpose of the key.',
} as const;

const expiresAt = {
  type: ['string', 'null'],
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?(Z|[+-]\\d\\d:\\d\\d)$',
  'x-expects': 'a time with a zone, such as 2027-01-31T12:00:00Z',
  description: 'Time in RFC 3339 at which the key expires. Without it, the key does not expire.',
} as const;

const listed = {
  id: text('ID that revokes the key. Keys of the config have the ID from the config.'),
  organization,
  type,
  name: text('Name for people. Keys of the config have their ID here.'),
  createdAt: textOrNull('Time in RFC 3339, UTC. Null for keys of the config.'),
  expiresAt: textOrNull('Time in RFC 3339, UTC. Null if the key does not expire.'),
  expired: { type: 'boolean', description: 'True if the key has expired.' },
  lastUsedAt: textOrNull('Time in RFC 3339, UTC, to the minute. Null if no use is recorded.'),
  readOnly: { type: 'boolean', description: 'True for keys of the config. Remove them in the config.' },
} as const;

const listedKeySchema = { title: 'Key', ...objectOf(listed) } as const;
export const keyListSchema = {
  title: 'Keys',
  ...objectOf({ keys: { type: 'array', items: listedKeySchema } }),
} as const;
export const createdKeySchema = {
  title: 'CreatedKey',
  ...objectOf({ ...listed, key: text('The key. docshelf shows it only once, and stores its SHA-256 digest.') }),
} as const;
export const newKeySchema = {
  title: 'NewKey',
  ...objectOf({ organization: { ...organization, minLength: 1, maxLength: 128 }, type, name }, { expiresAt }),
  additionalProperties: false,
} as const;

export type ListedKey = ShapeOf<typeof listedKeySchema>;
export type CreatedKey = ShapeOf<typeof createdKeySchema>;
export type NewKey = ShapeOf<typeof newKeySchema>;

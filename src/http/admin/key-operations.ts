import type { Operation } from '../../domain/operation.ts';
import { createdKeySchema, keyListSchema, newKeySchema } from '../keys/key-schemas.ts';
import { acting, badField, secret } from './operation-kinds.ts';

const tag = {
  name: 'Keys',
  description: 'Keys of organizations, made while the daemon runs. Those of the config are listed, too.',
} as const;

const noOrganization = {
  code: 'not_found',
  description: 'The config has no such organization.',
  message: 'Cannot make a key: there is no organization "globex"',
} as const;
const damaged = {
  code: 'cannot_read',
  description: 'The file of keys is damaged; keys as last read hold on.',
  message: 'Cannot read the keys in "data/keys.json": the file is damaged (key 3 of 7)',
} as const;
const away = {
  code: 'database_unavailable',
  description: 'Keys are in a database that is away; keys as last read hold on.',
  message: 'Cannot use the database: connect ECONNREFUSED 10.0.0.7:5432',
} as const;

export const keyOperations = {
  listKeys: {
    ...secret,
    tag,
    id: 'listKeys',
    path: '/v1/keys',
    summary: 'List API keys',
    query: {
      type: 'object',
      properties: { organization: { type: 'string', description: 'That one alone.' } },
      additionalProperties: false,
    },
    answers: { 200: { description: 'The keys, those of the config first, then the newest.', schema: keyListSchema } },
    faults: [{ ...noOrganization, message: 'Cannot list the keys: there is no organization "globex"' }, damaged, away],
  },
  createKey: {
    ...acting,
    tag,
    act: 'make a key',
    id: 'createKey',
    method: 'POST',
    path: '/v1/keys',
    summary: 'Create an API key',
    body: {
      schema: newKeySchema,
      examples: {
        'For the search box of a site': { organization: 'acme-inc', type: 'assistant', name: 'website' },
        'For a pipeline, for a while': {
          organization: 'acme-inc',
          type: 'admin',
          name: 'ci',
          expiresAt: '2027-12-31T00:00:00Z',
        },
      },
    },
    answers: { 201: { description: 'The key, shown this once.', schema: createdKeySchema } },
    faults: [badField('Cannot make a key: the field "expiresAt" lies in the past'), noOrganization, damaged, away],
  },
  revokeKey: {
    ...acting,
    tag,
    id: 'revokeKey',
    method: 'DELETE',
    path: '/v1/keys/{id}',
    summary: 'Revoke an API key',
    description: 'Other daemons on the data folder or the database refuse it within 5 seconds.',
    parameters: {
      id: { description: 'As the list has it.', schema: { type: 'string' }, example: 'key_4f1c09a7e2b85d36' },
    },
    answers: { 204: { description: 'It is gone.' } },
    faults: [
      { code: 'not_found', description: 'No such key.', message: 'Cannot revoke "key_0": there is no such key' },
      {
        code: 'key_of_config',
        description: 'It is a key of the config, and revoked there.',
        message: 'Cannot revoke "ci": it is a key of the config',
      },
      damaged,
      away,
    ],
  },
} as const satisfies Readonly<Record<string, Operation>>;

import { type MadeKey, newKey } from '../../../src/http/keys/key-store.ts';

export const madeKey = (id: string): MadeKey => ({
  id,
  organization: 'acme',
  type: 'assistant',
  name: id,
  sha256: newKey('assistant').sha256,
  createdAt: '2026-11-23T10:00:00.000Z',
  expiresAt: null,
});

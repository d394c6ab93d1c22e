/** What calls of the admin listener have in common. */

/** Without a token. */
export const reading = { method: 'GET', security: null, act: 'answer' } as const;
export const health = { ...reading, tag: { name: 'Health', description: 'For probes and scrapers.' } } as const;
export const state = {
  ...reading,
  tag: { name: 'State', description: 'What the daemon serves and how it is.' },
} as const;
export const acting = {
  act: 'act',
  tag: { name: 'Actions', description: 'What the daemon can be told to do. Through its socket they need no token.' },
  security: {
    name: 'adminToken',
    description: '`admin.token` of the config. Where none is set, every action is refused.',
    faults: [
      {
        code: 'unauthorized',
        description: 'No token, or another one.',
        message: 'Cannot act: the request carries no bearer token',
      },
      {
        code: 'forbidden',
        description: 'No token is set.',
        message: 'Cannot act: no admin token is set, and without one every action is refused',
      },
    ],
  },
} as const;
export const badField = (message: string) =>
  ({
    code: 'bad_request',
    description: 'A field is missing, unknown or out of bounds; the message names it.',
    message,
  }) as const;
/** Read with the token alone (contract, section 2). */
export const secret = { ...acting, method: 'GET', act: 'answer' } as const;

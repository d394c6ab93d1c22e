/** The problem document of `problem.ts` as JSON Schema (RFC 9457, section 3; contract, section 8). */
export const problemSchema = {
  type: 'object',
  description: 'A problem document of RFC 9457.',
  required: ['type', 'title', 'status', 'detail', 'error', 'code'],
  properties: {
    type: { const: 'about:blank' },
    title: { type: 'string', description: 'The phrase of the status.' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'What is wrong, one sentence.' },
    error: { type: 'string', description: 'The sentence of `detail` once more.' },
    code: { type: 'string', pattern: '^[a-z0-9_]+$', description: 'Name of the fault: what programs decide by.' },
    next: { type: 'string', description: 'What to do next.' },
    requestId: { type: 'string', description: 'As in `X-Request-Id`.' },
  },
  examples: [
    {
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      detail: 'Cannot search: the field "pageSize" must be at most 50',
      error: 'Cannot search: the field "pageSize" must be at most 50',
      code: 'bad_request',
      requestId: '0b54e7c4-0f0f-4a52-9d3c-5d7c2f0a7c11',
    },
  ],
};

export const problemDescriptions = {
  400: 'Malformed JSON, or a field that is unknown or out of bounds; the message names it.',
  401: 'No key, a malformed header or an unknown key.',
  403: 'The key is of another type.',
  404: "There is no such domain, or it is another organization's; or search is turned off.",
  413: 'The body is larger than 64 KiB.',
  415: 'The body is not JSON.',
  429: 'Over the rate limit, or more searches wait than the engine takes on.',
  503: 'The first index is still being built.',
};

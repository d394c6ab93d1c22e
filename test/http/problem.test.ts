import { describe, expect, it } from 'vitest';
import { DocshelfError, ERROR_CODES, type ErrorCode, statusOf } from '../../src/domain/errors.ts';
import { problemOf, problemResponse } from '../../src/http/problem.ts';

describe('statusOf()', () => {
  it.each(ERROR_CODES)('returns an error status for the error code %s', (code) => {
    expect(statusOf(code)).toBeGreaterThanOrEqual(400);
    expect(statusOf(code)).toBeLessThan(600);
  });

  it.each<[ErrorCode, number]>([
    ['unauthorized', 401],
    ['forbidden', 403],
    ['version_not_found', 404],
    ['pinned', 409],
    ['in_use', 409],
    ['payload_too_large', 413],
    ['unsupported_media_type', 415],
    ['type_symlink', 422],
    ['domain_mismatch', 422],
    ['config_invalid', 422],
    ['internal', 500],
    ['busy', 503],
    ['not_enough_space', 507],
  ])('maps the error code %s to status %i', (code, status) => {
    expect(statusOf(code)).toBe(status);
  });
});

describe('problemResponse()', () => {
  it('contains the members of RFC 9457 and of docshelf', async () => {
    const error = new DocshelfError('pinned', 'Cannot roll back: the config pins version "v1"', { next: 'Unpin it.' });
    const response = problemResponse(error, 'r-1');
    expect(response.status).toBe(409);
    expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(await response.json()).toEqual({
      type: 'about:blank',
      title: 'Conflict',
      status: 409,
      detail: error.message,
      error: error.message,
      code: 'pinned',
      next: 'Unpin it.',
      requestId: 'r-1',
    });
  });

  it('hides the message of an unexpected error', () => {
    const error = new DocshelfError('internal', 'connect to secret-host failed', { next: 'ask secret-host' });
    expect(JSON.stringify(problemOf(error, null))).not.toContain('secret-host');
    expect(problemOf(error, null).code).toBe('internal');
  });

  it('has a WWW-Authenticate header with 401', () => {
    expect(problemResponse(new DocshelfError('unauthorized', 'Cannot'), null).headers.get('www-authenticate')).toBe(
      'Bearer',
    );
  });

  it('has a Retry-After header with 503', () => {
    const busy = new DocshelfError('busy', 'Cannot', { fields: { retryAfterS: 17 } });
    expect(problemResponse(busy, null).headers.get('retry-after')).toBe('17');
    expect(problemResponse(new DocshelfError('stopping', 'Cannot'), null).headers.get('retry-after')).toMatch(/^\d+$/);
  });
});

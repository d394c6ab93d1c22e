import { describe, expect, it } from 'vitest';
import { chooseSite } from '../../src/domain/deployment.ts';

const [acme, globex] = [{ domain: 'acme' }, { domain: 'globex' }];

function faultOf(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

describe('chooseSite()', () => {
  it('returns the named site, or the only site if no name is given', () => {
    expect(chooseSite([acme, globex], 'globex', 'the config')).toBe(globex);
    expect(chooseSite([acme], null, 'the config')).toBe(acme);
  });

  it('requires a name if there are several sites, and lists the sites', () => {
    expect(faultOf(() => chooseSite([acme, globex], null, 'the config'))).toMatchObject({
      code: 'site_needed',
      message: 'Cannot choose a site: the config has several sites',
      next: expect.stringContaining(
        '--site. In a request, use a path under /v1/sites/{domain}. The sites are: acme, globex.',
      ),
      fields: { domains: ['acme', 'globex'] },
    });
  });

  it('lists the existing sites if no site has the given domain', () => {
    expect(faultOf(() => chooseSite([acme, globex], 'initech', 'this daemon'))).toMatchObject({
      code: 'not_found',
      message: 'Cannot find the site "initech": this daemon has no such site',
      next: 'Use one of its sites: acme, globex.',
    });
  });

  it('lists only the first twenty of a thousand sites', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => ({ domain: `s${index}` }));
    expect(faultOf(() => chooseSite(many, 'x', 'this daemon'))).toMatchObject({
      next: expect.stringMatching(/^Use one of its sites: s0, .* s19, …\.$/),
    });
  });
});

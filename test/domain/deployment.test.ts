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
  it('gives the named one, and the only one where none is named', () => {
    expect(chooseSite([acme, globex], 'globex', 'the config')).toBe(globex);
    expect(chooseSite([acme], null, 'the config')).toBe(acme);
  });

  it('asks for a name where there are several, and names them', () => {
    expect(faultOf(() => chooseSite([acme, globex], null, 'the config'))).toMatchObject({
      code: 'site_needed',
      message: 'Cannot choose a site: the config has several, and none is named',
      next: expect.stringContaining('--site or under /v1/sites/{domain}: acme, globex.'),
      fields: { domains: ['acme', 'globex'] },
    });
  });

  it('says which there are where it has none of that domain', () => {
    expect(faultOf(() => chooseSite([acme, globex], 'initech', 'this daemon'))).toMatchObject({
      code: 'not_found',
      message: 'Cannot find the site "initech": this daemon has no site with that domain',
      next: 'It has: acme, globex.',
    });
  });

  it('names twenty of a thousand', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => ({ domain: `s${index}` }));
    expect(faultOf(() => chooseSite(many, 'x', 'this daemon'))).toMatchObject({
      next: expect.stringMatching(/^It has: s0, .* s19, …\.$/),
    });
  });
});

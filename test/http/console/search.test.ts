import { describe, expect, it } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import { type SearchResult, searchRequestOf } from '../../../src/domain/search.ts';
import { observedAt } from '../admin/admin-example.ts';
import { Operator } from './operator.ts';
import { RESULT } from './states.ts';

function operatorOf(search: (query: string) => Promise<readonly SearchResult[]>) {
  const queries: string[] = [];
  const observe = () =>
    observedAt('https://acme.example/docs/', {}, (query) => {
      queries.push(query);
      return search(query);
    });
  return { changes: { observe }, queries };
}

describe('search on the console', () => {
  it('shows results of the site with the reasons of each score', async () => {
    const { changes, queries } = operatorOf(async () => [RESULT]);
    const page = await (await Operator.signedIn(changes)).page('/sites/acme/search?q=%20rotate+key%20');
    expect(queries).toEqual(['rotate key']);
    expect(page).toContain('href="https://acme.example/docs/keys/#rotate"');
    expect(page).toContain('<mark>Rotate</mark> a <mark>key</mark> before it ends.');
    for (const text of ['0.88', '1.23', 'in the title, text', '0.57', '9.00', 'the query is the title of the page'])
      expect(page).toContain(text);
    expect(page).toContain('value="rotate key"');
  });

  it('is on the page of each site, after sign-in only', async () => {
    const operator = new Operator();
    expect(await operator.page('/sites/acme')).not.toContain('<search>');
    await operator.signIn();
    expect(await operator.page('/sites/acme')).toContain('<search><form action="../sites/acme/search"');
  });

  it('does not run without a sign-in, without a query, or if the query is too long', async () => {
    const { changes, queries } = operatorOf(async () => [RESULT]);
    const operator = new Operator(changes);
    expect(await operator.page('/sites/acme/search?q=key')).toContain('href="../../sign-in?to=sites%2Facme%2Fsearch"');
    await operator.signIn();
    expect(await operator.page('/sites/acme/search')).toContain('<search>');
    expect((await operator.get(`/sites/acme/search?q=${'x'.repeat(1001)}`)).status).toBe(400);
    expect(queries).toEqual([]);
  });

  it('shows that there are no results, or why the search failed', async () => {
    expect(await (await Operator.signedIn()).page('/sites/acme/search?q=x')).toContain('No results.');
    const { changes } = operatorOf(() => Promise.reject(new DocshelfError('search_off', 'Cannot search: it is off')));
    const answer = await (await Operator.signedIn(changes)).get('/sites/acme/search?q=x');
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(await answer.text()).toContain('manual/errors#search_off');
  });

  it('escapes the query and the text of pages', async () => {
    const evil = '"><script>alert(1)</script>';
    const { content, metadata } = {
      content: `a ${evil}`,
      metadata: { ...RESULT.metadata, title: evil, headings: [evil] },
    };
    const highlights = [{ start: 2, end: 2 + evil.length }];
    const result = { ...RESULT, content, path: `/${evil}`, metadata: { ...metadata, highlights } };
    const operator = await Operator.signedIn(operatorOf(async () => [result]).changes);
    const page = await operator.page(`/sites/acme/search?q=${encodeURIComponent(evil)}`);
    expect(page).not.toContain(evil);
    expect(page).toContain('<mark>&quot;&gt;&lt;script&gt;');
  });

  it('links a result only to the site, even if the path of the result is a javascript: URL', async () => {
    const result = { ...RESULT, path: 'javascript:alert(1)' };
    const operator = await Operator.signedIn(operatorOf(async () => [result]).changes);
    expect(await operator.page('/sites/acme/search?q=x')).toContain('href="https://acme.example/docs/javascript:');
  });

  it('is the only search that explains scores, because the API ignores the option isExplained', () => {
    const sent = { query: 'x', isExplained: true } as { readonly query: string };
    expect(searchRequestOf(sent)).not.toHaveProperty('isExplained');
  });
});

import { describe, expect, it } from 'vitest';
import { manualPage } from '../../../scripts/manual-page.ts';
import { DocshelfError, ERROR_CODES } from '../../../src/domain/errors.ts';
import { actionsThatNote } from '../admin/admin-example.ts';
import { STATUS, siteStatus } from '../status-example.ts';
import { Operator } from './operator.ts';

const linkTo = (code: string, root = './') => `<a href="${root}manual/errors#${code}"><code>${code}</code></a>`;

describe('manual on the console', () => {
  it('has a row with an anchor for every error code, and contains no inline style or script', async () => {
    const operator = new Operator();
    const answer = await operator.get('/manual/errors');
    const page = await answer.text();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    for (const code of ERROR_CODES) expect(page).toContain(`<tr id="${code}">`);
    expect(page).not.toMatch(/<style|\sstyle=|<script>|\son\w+=/);
    expect(await operator.page('/')).toContain('href="./manual/errors"');
  });

  it('contains no broken link', async () => {
    const page = await new Operator().page('/manual/errors');
    const article = page.slice(page.indexOf('<article'), page.indexOf('</article>'));
    const links = Array.from(article.matchAll(/href="([^"]*)"/g), ([, href]) => href ?? '');
    expect(links.filter((href) => !href.startsWith('#') || !article.includes(`id="${href.slice(1)}"`))).toEqual([]);
  });

  it('is converted from a Markdown page of docs/, and labels each table with the heading above the table', () => {
    const made = manualPage(
      'a.md',
      '---\ntitle: A\n---\nSee [b](b.md).\n\n## Of _x_\n\n| A | B |\n|---|---|\n| `c_d` | e |\n',
    );
    expect(made).toContain('<p>See b.</p>');
    expect(made).toContain('aria-label="Of _x_"');
    expect(made).toContain('<tr id="c_d">');
  });
});

describe('manual link of an error on the console', () => {
  it('is shown for the last error of a site, also in the list of sites', async () => {
    const sites = [siteStatus('acme'), siteStatus('cafe')];
    expect(await new Operator().page('/')).toContain(linkTo('link_expired'));
    expect(await new Operator().page('/sites/acme')).toContain(linkTo('link_expired', '../'));
    const shelf = new Operator({ status: async () => ({ ...STATUS, lastError: null, sites }) });
    expect(await shelf.page('/')).toContain(linkTo('link_expired'));
  });

  it('is shown for a rejected config, with the next step', async () => {
    const lastReload = { at: STATUS.startedAt, ok: false, error: 'line 3: <b>"x"</b> is no key' };
    const page = await new Operator({ status: async () => ({ ...STATUS, lastReload }) }).page('/');
    expect(page).toContain(linkTo('config_invalid'));
    expect(page).toContain('Fix the config');
    expect(page).toContain('&lt;b&gt;');
  });

  it('is shown for a failed action and for a page that does not exist', async () => {
    const rollback = () => Promise.reject(new DocshelfError('no_version', 'Cannot roll back: <i>there is none</i>'));
    const operator = await Operator.signedIn({ actions: actionsThatNote([], { rollback }) });
    const { page } = await operator.actAndFollow('/sites/acme/rollback');
    expect(page).toContain(linkTo('no_version', '../'));
    expect(page).not.toContain('<i>there');
    expect(await operator.page('/nowhere/at/all')).toContain(linkTo('not_found', '../../'));
  });
});

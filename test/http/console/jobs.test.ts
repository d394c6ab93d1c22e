import { describe, expect, it } from 'vitest';
import type { ExportReport } from '../../../src/domain/job.ts';
import { JobDesk } from '../../../src/http/job-desk.ts';
import { BEARER } from '../admin/admin-example.ts';
import { exportsInMemory, failedBy, type MemoryQueue } from '../api/exports-in-memory.ts';
import { organization, ownedSite } from '../organization-example.ts';
import { Operator } from './operator.ts';

const site = (domain: string, isExported = true) => ownedSite(domain, isExported, [`${domain}.test`]);
const ORGANIZATIONS = [
  organization('acme-inc', { sites: [site('acme'), site('searched', false)] }),
  organization('team', { plan: 'team', sites: [site('small')] }),
  organization('globex', { sites: [site('globex')] }),
];
const HOSTILE = '</td><script>alert(1)</script>"\'&';

interface Bench {
  readonly operator: Operator;
  readonly queue: MemoryQueue;
  readonly desk: JobDesk;
}

async function open(): Promise<Bench> {
  const { exports, queue } = exportsInMemory();
  const desk = new JobDesk({ service: async () => exports, organizations: () => ORGANIZATIONS });
  return { operator: await Operator.signedIn({ actions: { jobs: desk } }), queue, desk };
}

describe('export jobs on the console', () => {
  it('are started, canceled and started again with forms', async () => {
    const { operator, queue } = await open();
    expect(await operator.page('/jobs')).toContain('There are no jobs yet.');
    const started = await operator.actAndFollow('/jobs', { domain: 'acme', version: ' v1 ' });
    expect(started.path).toMatch(/^\/jobs\/se_[0-9a-f]{16}$/);
    expect(started.page).toContain('The export of acme is queued');
    const canceled = await operator.actAndFollow(`${started.path}/cancel`);
    expect([canceled.path, canceled.page]).toEqual([started.path, expect.stringContaining('canceled')]);
    const again = await operator.actAndFollow(`${started.path}/retry`);
    expect(again.path).not.toBe(started.path);
    expect(queue.size).toBe(2);
    const list = await operator.page('/jobs');
    expect(list.indexOf(again.path.slice(6))).toBeLessThan(list.indexOf(started.path.slice(6)));
    expect(list.match(/>v1</g)).toHaveLength(2);
  });

  it('show their progress to clients with and without a sign-in', async () => {
    const { operator, queue, desk } = await open();
    const { jobId } = await desk.start({ domain: 'globex.test' });
    queue.move(jobId, { status: 'running', progress: 42.9, pageCount: 1_234 });
    for (const path of ['/jobs', `/jobs/${jobId}`]) {
      for (const each of [operator, new Operator({ actions: { jobs: desk } })]) {
        const page = await each.page(path);
        expect(page).toMatch(/42 %[\s\S]*1,234/);
        expect(page).toContain('data-jobs');
      }
    }
    expect(await operator.page('/')).not.toContain('data-jobs');
  });

  it('show the error, the next step and a link to the manual if they failed', async () => {
    const { operator, queue, desk } = await open();
    const { jobId } = await desk.start({ domain: 'acme' });
    queue.move(jobId, failedBy({ code: 'bad_source', message: 'Cannot read "a<b"', next: 'Mend it.' }));
    const list = await operator.page('/jobs');
    expect(list).toContain('Cannot read &quot;a&lt;b&quot;. Mend it.');
    expect(list).toContain('href="./manual/errors#bad_source"');
    const page = await operator.page(`/jobs/${jobId}`);
    expect(page).toMatch(/Cannot read &quot;a&lt;b&quot;<\/p>[\s\S]*<strong>Next:<\/strong> Mend it\.<\/p>/);
    expect(page).toContain('href="../manual/errors#bad_source"');
    queue.move(jobId, { error: 'of an older docshelf. Try again', fault: null });
    expect(await operator.page(`/jobs/${jobId}`)).toContain('of an older docshelf. Try again');
  });

  it('are listed on several pages if there are more than 100 jobs', async () => {
    const { operator, queue } = await open();
    const added = Array.from({ length: 101 }, (_, at) => `se_${String(at).padStart(16, '0')}`);
    for (const jobId of added) {
      const order = { jobId, domain: jobId, version: null, paths: null, traceparent: null };
      await queue.add({ ...order, organizationId: 'acme-inc' }, 1_000);
    }
    const first = await operator.page('/jobs');
    expect(first).not.toContain(`id="${added[0]}"`);
    const [, older = ''] = /href="\.\/(jobs\?cursor=[^"]+)"/.exec(first) ?? [];
    const second = await operator.page(`/${older}`);
    expect([...second.matchAll(/<tr id="(se_[^"]+)"/g)].map(([, id]) => id)).toEqual([added[0]]);
    expect(second).not.toContain('cursor=');
    const wrong = await operator.get('/jobs?cursor=x');
    expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('bad_request')]);
  });

  it('show their report with escaped text', async () => {
    const { operator, queue, desk } = await open();
    const { jobId } = await desk.start({ domain: 'acme' });
    const finding = { kind: 'broken_reference', page: HOSTILE, detail: HOSTILE };
    const findings: ExportReport['findings'] = Array.from({ length: 300 }, () => finding);
    queue.complete(jobId, { jobId, pages: 2, files: 3, bytes: 4096, counts: { broken_reference: 1_300 }, findings });
    const page = await operator.page(`/jobs/${jobId}`);
    expect(page).toContain('1,300 findings, 200 shown');
    expect(page.match(/&lt;script&gt;/g)).toHaveLength(400);
    expect(page).not.toContain('<script>alert');
    expect(page).toContain(`href="../jobs/${jobId}/report"`);
    const whole = await operator.get(`/jobs/${jobId}/report`);
    expect([whole.status, whole.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await whole.json()).toMatchObject({ jobId, findings });
  });

  it('can be started only for sites that docshelf can export', async () => {
    const { operator } = await open();
    const page = await operator.page('/jobs');
    expect([...page.matchAll(/<option value="([^"]+)"/g)].map(([, domain]) => domain)).toEqual(['acme', 'globex']);
    for (const [domain, why] of [
      ['small', 'not_found'],
      ['nobody', 'not_found'],
      ['searched', 'no_source'],
    ] as const) {
      const { path, page: told } = await operator.actAndFollow('/jobs', { domain });
      expect([path, told]).toEqual(['/jobs', expect.stringContaining(`<code>${why}</code>`)]);
    }
    const wrong = await operator.actAndFollow('/jobs', { domain: 'acme', version: '../x' });
    expect(wrong.page).toContain('bad_request');
  });

  it('need a sign-in for changes and reports, and a form token in each form', async () => {
    const { operator, desk, queue } = await open();
    const { jobId } = await desk.start({ domain: 'acme' });
    const bare = await operator.post(`/jobs/${jobId}/cancel`, {});
    expect([bare.status, (await queue.get(jobId))?.status]).toEqual([403, 'queued']);
    const finding = { kind: 'left_out', page: 'secret.html', detail: 'secret' };
    queue.complete(jobId, { jobId, pages: 1, files: 1, bytes: 1, counts: { left_out: 1 }, findings: [finding] });
    operator.cookie = '';
    for (const path of ['/jobs', `/jobs/${jobId}`]) {
      const page = await operator.page(path);
      expect(page).toContain(jobId);
      expect(page).not.toMatch(/secret|method="post"/);
    }
    expect(await operator.page(`/jobs/${jobId}`)).toContain('to see the report');
    const barred = await operator.get(`/jobs/${jobId}/report`);
    expect([barred.status, await barred.text()]).toEqual([401, expect.not.stringContaining('secret')]);
    for (const act of ['cancel', 'retry']) expect((await operator.post(`/jobs/${jobId}/${act}`, {})).status).toBe(401);
    expect(queue.size).toBe(1);
  });

  it('have a 404 page with an explanation if the job is unknown or exports are off', async () => {
    const { operator } = await open();
    expect((await operator.get('/jobs/se_0000000000000000')).status).toBe(404);
    const without = await Operator.signedIn();
    const page = await without.get('/jobs');
    expect([page.status, await page.text()]).toEqual([404, expect.stringContaining('exportApi.enabled')]);
  });
});

describe('/v1/jobs of the admin listener', () => {
  it('needs the token for every call except reading jobs', async () => {
    const { operator, desk } = await open();
    const { jobId } = await desk.start({ domain: 'acme' });
    const send = (path: string, method: string, headers: Record<string, string>) =>
      operator.app.request(operator.origin + path, { method, headers });
    for (const path of ['/v1/jobs', `/v1/jobs/${jobId}`]) expect((await send(path, 'GET', {})).status).toBe(200);
    for (const [method, path, status] of [
      ['GET', `/v1/jobs/${jobId}/report`, 409],
      ['POST', `/v1/jobs/${jobId}/retry`, 202],
      ['DELETE', `/v1/jobs/${jobId}`, 202],
    ] as const) {
      expect((await send(path, method, {})).status, path).toBe(401);
      expect((await send(path, method, BEARER)).status, path).toBe(status);
    }
  });
});

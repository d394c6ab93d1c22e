import type { ReleaseRef } from '../../../deploy/index.ts';
import { DocshelfError, toDocshelfError } from '../../../domain/errors.ts';
import type { SiteStatusReport, StatusReport, StoredVersion } from '../../../domain/status.ts';
import { counted } from '../../../domain/text.ts';
import type { VersionsDiff } from '../../../site/versions/diff-pages.ts';
import { requestIdOf } from '../../listener/request.ts';
import { problemOf } from '../../problem.ts';
import { countInWords, Name, type RowOfCells, Table, Up } from '../elements.tsx';
import { ActionForm, ActionResult } from '../forms.tsx';
import { showPage } from '../layout.tsx';
import { summaryOf, type Undo, type Verdict } from '../sessions.ts';
import { shelfSite, shelfSites } from '../shown-sites.tsx';
import {
  backTo,
  type ConsoleRoute,
  type ConsoleVisit,
  call,
  fieldOf,
  parameterOf,
  type SessionVisit,
  type SignedVisit,
  siteAddress,
} from '../visit.ts';
import { Diff } from './diff.tsx';

export const activationRoutes: readonly ConsoleRoute[] = [
  { method: 'GET', path: '/sites/:domain/review', run: showActivation },
  { method: 'POST', path: '/sites/:domain/activate', act: activateOne },
  { method: 'POST', path: '/sites/:domain/rollback', act: rollBack },
  { method: 'POST', path: '/activate/review', act: reviewSelected },
  { method: 'POST', path: '/activate', act: activateSelected },
  { method: 'POST', path: '/undo', act: undo },
];

/** Short time limit for the comparison of two versions, because an activation does not need the comparison. */
const DIFF_MS_MAX = 10_000;

async function showActivation(visit: ConsoleVisit): Promise<Response> {
  const domain = parameterOf(visit, 'domain');
  const site = shelfSite(await visit.parts.status(), domain);
  const version = visit.c.req.query('version') ?? '';
  const stored = storedVersion(site, version);
  const { active, pinned } = site;
  const isPinned = pinned !== null && pinned !== version;
  const compared = active === null || visit.session === null ? null : await compare(visit, site, version);
  const content = (
    <>
      <Up to={visit.root + siteAddress(domain)} name={domain} />
      <h1>Activate version {version}</h1>
      <section class={`alert ${isPinned ? 'bad' : 'info'}`} id="consequence">
        <h2>{consequenceOf(site, version)}</h2>
        {active?.digest === stored.digest && <p>Both versions have the same files.</p>}
        {isPinned && (
          <p>
            The config pins version {pinned}, so docshelf rejects this activation. Change{' '}
            <code>staticExport.version</code> instead.
          </p>
        )}
        {visit.session === null && <p>Sign in to activate it.</p>}
        <ActionForm
          visit={visit}
          action={`${siteAddress(domain)}/activate`}
          class="buttons"
          fields={{ version, ...(active && { former: active.digest }) }}
        >
          {!isPinned && (
            <button type="submit" class="primary">
              Activate {version}
            </button>
          )}
          <a class="button" href={visit.root + siteAddress(domain)}>
            Cancel
          </a>
        </ActionForm>
      </section>
      {compared?.problem && <ActionResult visit={visit} message={compared.problem} />}
      {compared?.diff && <Diff visit={visit} domain={domain} diff={compared.diff} />}
    </>
  );
  return showPage(visit, { title: `${domain}: activate ${version}`, isStill: true, content });
}

function storedVersion({ deployment, versions }: SiteStatusReport, version: string): StoredVersion {
  const stored = versions.find((each) => each.version === version);
  if (stored !== undefined) return stored;
  const state = `Cannot find version "${version.slice(0, 200)}": the site "${deployment.domain}" does not store it`;
  throw new DocshelfError('version_not_found', state, {
    next: 'Open the page of the site, which lists its stored versions.',
  });
}

async function compare(visit: ConsoleVisit, { deployment, active }: SiteStatusReport, to: string) {
  const late = AbortSignal.timeout(DIFF_MS_MAX);
  const input = { domain: deployment.domain ?? '', query: { from: active?.version, to }, signal: late };
  const called = await call(visit, 'diff', input);
  if (called.problem === null) return { diff: called.value as VersionsDiff, problem: null };
  const error = `The comparison takes longer than ${DIFF_MS_MAX / 1000} s`;
  const next = 'Activate the version without a comparison, or compare the versions on the page of the site.';
  const problem = late.aborted
    ? { ...called.problem, code: 'deadline_exceeded' as const, error, next }
    : called.problem;
  return { diff: null, problem: { text: 'The versions were not compared', problem } };
}

function consequenceOf({ deployment, active }: SiteStatusReport, version: string): string {
  const readers = `Readers of ${deployment.domain}`;
  if (active === null) return `${readers} will see ${version}. They see no version now.`;
  return active.version === version
    ? `${readers} will see the stored files of ${version}.`
    : `${readers} will see ${version} instead of ${active.version}.`;
}

async function activateOne(visit: SignedVisit): Promise<Response> {
  const domain = parameterOf(visit, 'domain');
  const version = fieldOf(visit, 'version');
  const status = await visit.parts.status();
  const { verdict, undo: back } = await activate(visit, status, domain, version, visit.form.get('former'));
  return backTo(visit, siteAddress(domain), { ...verdict, undo: back });
}

async function rollBack(visit: SignedVisit): Promise<Response> {
  const domain = parameterOf(visit, 'domain');
  const former = shelfSites(await visit.parts.status()).find(({ deployment }) => deployment.domain === domain)?.active;
  const called = await call(visit, 'rollback', { domain });
  if (called.problem !== null) {
    return backTo(visit, siteAddress(domain), { text: 'The site was not rolled back', problem: called.problem });
  }
  const activated = called.value as ReleaseRef;
  const text = `Rolled back: version ${activated.version} is active`;
  const back = former ? [{ domain, activated, former, isOfRollback: true }] : [];
  return backTo(visit, siteAddress(domain), { text, problem: null, undo: back });
}

/** Activates a version. @param expected digest of the active release when the operator opened the page. Null skips this check */
async function activate(
  visit: SessionVisit,
  status: StatusReport,
  domain: string,
  version: string,
  expected: string | null,
): Promise<{ readonly verdict: Verdict; readonly undo: readonly Undo[] }> {
  const former = shelfSites(status).find(({ deployment }) => deployment.domain === domain)?.active ?? null;
  const text = `Version ${version} was not activated`;
  if (expected !== null && former !== null && former.digest !== expected) {
    const problem = changedSince(visit, `Cannot activate version "${version}" of "${domain}"`, former.version);
    return { verdict: { text, problem }, undo: [] };
  }
  const called = await call(visit, 'activate', { domain, parameters: { version } });
  if (called.problem !== null) return { verdict: { text, problem: called.problem }, undo: [] };
  const activated = called.value as ReleaseRef;
  const isOther = former !== null && former.digest !== activated.digest;
  return {
    verdict: { text: `Version ${version} is active`, problem: null },
    undo: isOther ? [{ domain, activated, former, isOfRollback: false }] : [],
  };
}

function changedSince({ c }: ConsoleVisit, act: string, active: string) {
  const error = new DocshelfError('precondition_failed', `${act}: version "${active}" became active in the meantime`, {
    next: 'Open the page of the site, and check the active version.',
  });
  return problemOf(error, requestIdOf(c.env));
}

async function reviewSelected(visit: SignedVisit): Promise<Response> {
  const status = await visit.parts.status();
  const selected = new Set(visit.form.getAll('site'));
  const sites = shelfSites(status).filter(({ deployment }) => selected.has(deployment.domain ?? ''));
  const due = sites.filter((site) => hindranceOf(site) === null);
  const content = (
    <>
      <Up to={visit.root} name="All sites" />
      <h1>Activate the newest versions</h1>
      <section class="alert info" id="consequence">
        <h2>
          {due.length === 0
            ? 'No selected site has a version to activate.'
            : `Readers of ${counted(due.length, 'site')} will see another version.`}
        </h2>
        <ActionForm visit={visit} action="activate" class="buttons">
          {due.map(({ deployment, versions, active }) => (
            <input
              type="hidden"
              name="target"
              value={[deployment.domain, versions[0]?.version, active?.digest ?? ''].join(' ')}
            />
          ))}
          {due.length > 0 && (
            <button type="submit" class="primary">
              Activate on {counted(due.length, 'site')}
            </button>
          )}
          <a class="button" href={visit.root}>
            Cancel
          </a>
        </ActionForm>
      </section>
      <Table
        id="selected"
        title="Selected sites"
        class="dense"
        columns={['Site', 'Active version', 'Newest version', 'Pages', 'Consequence']}
        numbers={['Pages']}
        empty="No site is selected. Go back and select sites."
        rows={sites.map((site) => reviewRow(visit, site))}
      />
    </>
  );
  return showPage(visit, { title: 'Activate the newest versions', isStill: true, content });
}

function reviewRow({ root }: ConsoleVisit, site: SiteStatusReport): RowOfCells {
  const { deployment, active, versions } = site;
  const domain = deployment.domain ?? '';
  const [newest] = versions;
  const hindrance = hindranceOf(site);
  const review = `${root}${siteAddress(domain)}/review?version=${encodeURIComponent(newest?.version ?? '')}`;
  return {
    cells: [
      <a href={root + siteAddress(domain)}>{domain}</a>,
      <Name>{active?.version ?? 'none'}</Name>,
      <Name>{newest?.version ?? 'none'}</Name>,
      `${active === null ? 'none' : countInWords(active.pages)} → ${newest === undefined ? 'none' : countInWords(newest.pages)}`,
      hindrance ?? <a href={review}>{consequenceOf(site, newest?.version ?? '')}</a>,
    ],
  };
}

function hindranceOf({ versions, active, pinned }: SiteStatusReport): string | null {
  const [newest] = versions;
  if (newest === undefined) return 'No version is stored.';
  if (newest.version === active?.version && newest.digest === active.digest) return 'The newest version is active.';
  if (pinned !== null && pinned !== newest.version) return `The config pins version ${pinned}.`;
  return null;
}

async function activateSelected(visit: SignedVisit): Promise<Response> {
  const status = await visit.parts.status();
  const targets = visit.form.getAll('target').map((target) => target.split(' '));
  const each: Verdict[] = [];
  const back: Undo[] = [];
  for (const [domain = '', version = '', expected = ''] of targets) {
    const done = await activate(visit, status, domain, version, expected === '' ? null : expected);
    each.push({ ...done.verdict, text: `${domain}: ${done.verdict.text}` });
    back.push(...done.undo);
  }
  return backTo(visit, '', { ...summaryOf(each, 'version', 'activated'), undo: back });
}

/** Undoes only activations whose releases are still active, so that later activations stay. */
async function undo(visit: SignedVisit): Promise<Response> {
  const all = visit.session.messages.take(visit.form.get('message') ?? undefined)?.undo ?? [];
  if (all.length === 0) {
    throw new DocshelfError('not_found', 'Cannot undo the activation: it was undone already, or is too old', {
      next: 'Open the page of the site, and activate the version.',
    });
  }
  const status = await visit.parts.status();
  const each: Verdict[] = [];
  for (const one of all) each.push(await undoOne(visit, status, one));
  const [first, second] = each;
  if (first !== undefined && second === undefined) return backTo(visit, siteAddress(all[0]?.domain ?? ''), first);
  return backTo(visit, '', summaryOf(each, 'version', 'activated again'));
}

async function undoOne(visit: SessionVisit, status: StatusReport, { domain, ...undone }: Undo): Promise<Verdict> {
  const { activated, former, isOfRollback } = undone;
  const text = `${domain}: version ${former.version} was not activated again`;
  try {
    const { active, versions } = shelfSite(status, domain);
    const act = `Cannot undo the activation of version "${activated.version}" of "${domain}"`;
    if (active?.digest !== activated.digest) {
      return { text, problem: changedSince(visit, act, active?.version ?? 'none') };
    }
    if (isOfRollback)
      storedVersion({ ...shelfSite(status, domain), versions: versions.filter(isSame) }, former.version);
  } catch (error) {
    return { text, problem: problemOf(toDocshelfError(error), requestIdOf(visit.c.env)) };
  }
  const { problem } = isOfRollback
    ? await call(visit, 'activate', { domain, parameters: { version: former.version } })
    : await call(visit, 'rollback', { domain });
  return { text: problem === null ? `${domain}: version ${former.version} is active again` : text, problem };

  /** Compares the digests of releases, because another release can now have the same version label. */
  function isSame({ digest }: StoredVersion): boolean {
    return digest === former.digest;
  }
}

import type { Child } from 'hono/jsx';
import type { SiteStatusReport } from '../../../domain/status.ts';
import { diffSummary, type VersionsDiff } from '../../../site/versions/diff-pages.ts';
import { Chip, type ChipTone, countInWords, Name, type RowOfCells, Table, Up } from '../elements.tsx';
import { callForPage } from '../forms.tsx';
import { showPage } from '../layout.tsx';
import { shelfSite } from '../shown-sites.tsx';
import { type ConsoleRoute, type ConsoleVisit, call, parameterOf, siteAddress, type VisitProps } from '../visit.ts';
import { problemPage } from './errors.tsx';

export const diffRoutes: readonly ConsoleRoute[] = [
  { method: 'GET', path: '/sites/:domain/diff', run: showDiff },
  { method: 'GET', path: '/sites/:domain/page', run: openPage },
];

async function showDiff(visit: ConsoleVisit): Promise<Response> {
  const { session, root, c } = visit;
  const domain = parameterOf(visit, 'domain');
  const site = shelfSite(await visit.parts.status(), domain);
  const { from, to } = c.req.query();
  const isCalled = session === null || (from !== undefined && to !== undefined);
  const input = {
    domain,
    query: { from, to },
    hint: 'Sign in to compare versions.',
    failed: 'The versions were not compared',
  };
  const called = isCalled ? await callForPage<VersionsDiff>(visit, 'diff', input) : null;
  const content = (
    <>
      <Up to={root + siteAddress(domain)} name={domain} />
      <h1>Compare versions</h1>
      <DiffForm visit={visit} site={site} from={from} to={to} />
      {called && (called.value === null ? called.instead : <Diff visit={visit} domain={domain} diff={called.value} />)}
    </>
  );
  // The comparison page does not have to reload, because stored versions do not change.
  return showPage(visit, { title: `${domain}: compare versions`, isStill: true, content });
}

interface DiffProps extends VisitProps {
  readonly domain: string;
  readonly diff: VersionsDiff;
}

export function Diff({ visit, domain, diff }: DiffProps) {
  const leftOut = Object.values(diff.leftOut).reduce((sum, count) => sum + count, 0);
  const linkTo = (version: string, page: string) => (
    <a
      href={`${visit.root}${siteAddress(domain)}/page?${new URLSearchParams({ version, page })}`}
      target="_blank"
      rel="noopener"
      aria-label={`Open ${page} in ${version}`}
    >
      <Name>{version}</Name>
    </a>
  );
  return (
    <>
      <p>{diffSummary(diff)}</p>
      <Table
        id="pages"
        title="Changed pages"
        note="by main text; links open a new tab"
        class="dense"
        columns={['Page', 'Change', 'Words', 'Before', 'After']}
        empty="No pages differ."
        rows={rowsOf(diff, linkTo)}
      />
      {leftOut > 0 && (
        <p>
          {countInWords(leftOut)} more pages are not shown. <code>docshelf bundle diff --json</code> lists all.
        </p>
      )}
    </>
  );
}

/** Show removed pages first, because readers lose these pages. */
function rowsOf(
  { before, after, added, removed, moved, changed }: VersionsDiff,
  linkTo: (version: string, page: string) => Child,
): RowOfCells[] {
  const row = (
    tone: ChipTone,
    change: string,
    { page, title }: { page: string; title: string },
    words: Child = '–',
  ) => [
    <>
      {page} <small>{title}</small>
    </>,
    <Chip tone={tone}>{change}</Chip>,
    words,
  ];
  return [
    ...removed.map((each) => [...row('bad', 'removed', each), linkTo(before, each.page), '–']),
    ...changed.map(({ wordsAdded, wordsRemoved, ...each }) => {
      const words = (
        <span class="short">
          {countInWords(wordsAdded)} added, {countInWords(wordsRemoved)} removed
        </span>
      );
      const cells = row('warn', 'changed', each, wordsAdded + wordsRemoved === 0 ? '–' : words);
      return [...cells, linkTo(before, each.page), linkTo(after, each.page)];
    }),
    ...moved.map((each) => [
      ...row('info', 'moved', each, `from ${each.from}`),
      linkTo(before, each.from),
      linkTo(after, each.page),
    ]),
    ...added.map((each) => [...row('good', 'added', each), '–', linkTo(after, each.page)]),
  ].map((cells) => ({ cells }));
}

async function openPage(visit: ConsoleVisit): Promise<Response> {
  const domain = parameterOf(visit, 'domain');
  const { version = '', page = '' } = visit.c.req.query();
  const path = page.split('/').map(encodeURIComponent).join('/');
  const { active } = shelfSite(await visit.parts.status(), domain);
  if (version === active?.version) return visit.c.redirect(visit.parts.observe(domain).address + path, 302);
  const called = await call(visit, 'preview', { domain, parameters: { version } });
  if (called.problem !== null) return problemPage(visit, called.problem, new Headers());
  const link = new URL((called.value as { readonly link: string }).link);
  link.pathname += path;
  return visit.c.redirect(link.href, 302);
}

interface DiffFormProps extends VisitProps {
  readonly site: SiteStatusReport;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Form to compare versions. It needs a session, because a site can require a sign-in for the compared pages. */
export function DiffForm({ visit, site, ...chosen }: DiffFormProps) {
  const labels = site.versions.map(({ version }) => version);
  if (visit.session === null || labels.length < 2) return null;
  const [newest, former] = labels;
  const active = site.active?.version ?? newest;
  const from = chosen.from ?? (active === newest ? former : active);
  const to = chosen.to ?? newest;
  return (
    <form method="get" action={`${visit.root}${siteAddress(site.deployment.domain)}/diff`} class="card pair" id="diff">
      <Labels name="from" title="Compare version" labels={labels} chosen={from} />
      <Labels name="to" title="with version" labels={labels} chosen={to} />
      <button type="submit">Compare</button>
    </form>
  );
}

interface LabelsProps {
  readonly name: string;
  readonly title: string;
  readonly labels: readonly string[];
  readonly chosen: string | undefined;
}

function Labels({ name, title, labels, chosen }: LabelsProps) {
  return (
    <div>
      <label for={`diff-${name}`}>{title}</label>
      <select id={`diff-${name}`} name={name}>
        {labels.map((label) => (
          <option value={label} selected={label === chosen}>
            {label}
          </option>
        ))}
      </select>
    </div>
  );
}

import type { SiteStatusReport } from '../../../domain/status.ts';
import { diffSummary, type VersionsDiff } from '../../../site/versions/diff-pages.ts';
import { Chip, type ChipTone, countInWords, type RowOfCells, Table, Up } from '../elements.tsx';
import { callForPage } from '../forms.tsx';
import { showPage } from '../layout.tsx';
import { shelfSite } from '../shown-sites.tsx';
import { type ConsoleRoute, type ConsoleVisit, parameterOf, siteAddress, type VisitProps } from '../visit.ts';

export const diffRoutes: readonly ConsoleRoute[] = [{ method: 'GET', path: '/sites/:domain/diff', run: showDiff }];

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
      {called && (called.value === null ? called.instead : <Diff diff={called.value} />)}
    </>
  );
  // Versions do not change, so the page need not reload and compare them again.
  return showPage(visit, { title: `${domain}: compare versions`, isStill: true, content });
}

function Diff({ diff }: { readonly diff: VersionsDiff }) {
  const leftOut = Object.values(diff.leftOut).reduce((sum, count) => sum + count, 0);
  return (
    <>
      <p>{diffSummary(diff)}</p>
      <Table
        id="pages"
        title="Pages"
        note="by main text"
        columns={['Page', 'Change', 'Title', 'Words']}
        empty="No pages differ."
        rows={rowsOf(diff)}
      />
      {leftOut > 0 && (
        <p>
          {countInWords(leftOut)} more pages are not shown. <code>docshelf bundle diff --json</code> lists all.
        </p>
      )}
    </>
  );
}

function rowsOf({ added, removed, moved, changed }: VersionsDiff): RowOfCells[] {
  const row = (tone: ChipTone, change: string, { page, title }: { page: string; title: string }, words = '–') => ({
    cells: [page, <Chip tone={tone}>{change}</Chip>, title, words],
  });
  return [
    ...added.map((page) => row('good', 'added', page)),
    ...removed.map((page) => row('bad', 'removed', page)),
    ...moved.map((page) => row('info', 'moved', page, `from ${page.from}`)),
    ...changed.map(({ wordsAdded, wordsRemoved, ...page }) => {
      const words = `${countInWords(wordsAdded)} more, ${countInWords(wordsRemoved)} gone`;
      return row('warn', 'changed', page, wordsAdded + wordsRemoved === 0 ? '–' : words);
    }),
  ];
}

interface DiffFormProps extends VisitProps {
  readonly site: SiteStatusReport;
  /** Former choice. The default compares the active version, or the second newest, with the newest. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Needs a sign-in, because the comparison reads pages that readers may have to sign in for. */
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

import type { DaemonFeatures, FeatureId, FeatureSupport } from '../../../domain/feature.ts';
import type { BundleSourceKind } from '../../../domain/release.ts';
import type { SiteStatusReport, StoredVersion } from '../../../domain/status.ts';
import { nounOf } from '../../../domain/text.ts';
import type { ObservedSite, SiteFindings } from '../../admin/observed-site.ts';
import {
  bytesInWords,
  Chip,
  type ChipTone,
  countInWords,
  Name,
  type RowOfCells,
  STATES,
  StateChip,
  Table,
  Time,
  TimeAgo,
  Up,
} from '../elements.tsx';
import { ActionForm } from '../forms.tsx';
import { showPage } from '../layout.tsx';
import { placeOf, SiteAlerts, shelfSite } from '../shown-sites.tsx';
import {
  backTo,
  type ConsoleRoute,
  type ConsoleVisit,
  call,
  fieldOf,
  parameterOf,
  type SignedVisit,
  siteAddress,
  type VisitProps,
} from '../visit.ts';
import { DiffForm } from './diff.tsx';
import { SearchBox } from './search.tsx';
import { UploadForm, upload } from './upload.tsx';

export const siteRoutes: readonly ConsoleRoute[] = [
  { method: 'GET', path: '/sites/:domain', run: showSite },
  siteAction('remove', {
    done: (version) => `Version ${version} was deleted`,
    failed: (version) => `Version ${version} was not deleted`,
  }),
  siteAction('preview', {
    done: (version) =>
      `Preview link for version ${version}, valid for one day. Anyone with the link can read this version`,
    failed: (version) => `The preview link for version ${version} was not created`,
  }),
  { method: 'POST', path: '/sites/:domain/upload', take: upload },
];

async function showSite(visit: ConsoleVisit): Promise<Response> {
  const status = await visit.parts.status();
  const site = shelfSite(status, parameterOf(visit, 'domain'));
  const content = (
    <>
      <Up to={visit.root} name="All sites" />
      <SiteContent visit={visit} site={site} />
    </>
  );
  return showPage(visit, { title: `${site.deployment.domain}: ${site.state}`, state: status, content });
}

interface SiteProps extends VisitProps {
  readonly site: SiteStatusReport;
}

export function SiteContent({ visit, site }: SiteProps) {
  const { deployment, title, state, notices } = site;
  const observed = visit.parts.observe(deployment.domain ?? '');
  const findings = observed.findings();
  const others = notices.filter((notice) => !findings.notices.includes(notice));
  return (
    <>
      <div class="heading">
        <h1>
          {deployment.domain} {title && <small>{title}</small>}
        </h1>
        <StateChip state={state} />
      </div>
      <SiteAlerts visit={visit} site={{ ...site, notices: others }} />
      <div class="cards">
        <ActiveCard visit={visit} site={site} observed={observed} />
        <SearchCard visit={visit} site={site} />
      </div>
      <Versions visit={visit} site={site} />
      <DiffForm visit={visit} site={site} />
      <UploadForm visit={visit} domain={deployment.domain ?? ''} />
      <Findings findings={findings} />
      <Features all={visit.parts.features()} domain={deployment.domain} />
    </>
  );
}

async function ActiveCard({ visit, site, observed }: SiteProps & { readonly observed: ObservedSite }) {
  const { active, pinned, state } = site;
  return (
    <section class="card lead" id="active">
      <h2>Active version</h2>
      <p class="big">
        {active?.version ?? 'none'} {active !== null && pinned === active.version && <Chip tone="none">pinned</Chip>}
      </p>
      <p class="soft">{STATES[state].meaning}</p>
      <dl class="facts">
        {active && (
          <>
            <Fact name="Since">
              <TimeAgo at={active.activatedAt} now={visit.now} />
            </Fact>
            <Fact name="Pages">{countInWords(active.pages)}</Fact>
            <Fact name="Size">{bytesInWords(active.bytes)}</Fact>
            <Fact name="Digest">
              <Digest digest={active.digest} />
            </Fact>
          </>
        )}
        {pinned !== null && pinned !== active?.version && <Fact name="Pinned">{pinned}</Fact>}
        <Fact name="Address">
          <a href={observed.address}>{placeOf(site)}</a>
        </Fact>
      </dl>
      {(await observed.canRollBack()) && (
        <ActionForm visit={visit} action={`${siteAddress(site.deployment.domain)}/rollback`} stays>
          <button type="submit">Roll back</button>
        </ActionForm>
      )}
    </section>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children?: unknown }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Digest({ digest }: { readonly digest: string }) {
  return (
    <code class="name short" title={digest}>
      {digest.slice(0, 12)}
    </code>
  );
}

function SearchCard({ visit, site: { search, deployment } }: SiteProps) {
  return (
    <section class="card" id="search">
      <h2>Local search</h2>
      <p class="big">{search?.keyword ?? 'off'}</p>
      {search && (
        <p class="soft">
          Keyword search: {search.keyword}. Semantic search: {search.semantic}. {countInWords(search.sections)}{' '}
          {nounOf(search.sections, 'section')}, {countInWords(search.embedded)} embedded.
        </p>
      )}
      {visit.session && search && search.keyword !== 'off' && (
        <SearchBox visit={visit} domain={deployment.domain ?? ''} />
      )}
    </section>
  );
}

const SOURCES: Readonly<Record<BundleSourceKind, string>> = {
  url: 'bundleUrl',
  preload: 'preload folder',
  inbox: 'inbox',
  import: 'command line',
  upload: 'upload',
  export: 'export',
};

function Versions({ visit, site }: SiteProps) {
  const { versions } = site;
  const isSignedIn = visit.session !== null;
  return (
    <Table
      id="versions"
      title="Versions"
      note={`${countInWords(versions.length)} stored`}
      columns={['Version', 'Digest', 'Pages', 'Files', 'Size', 'Source', 'Created', ...(isSignedIn ? ['Actions'] : [])]}
      numbers={['Pages', 'Files', 'Size']}
      empty="No version is stored yet."
      rows={versions.map((version) => versionRow(visit, site, version))}
    />
  );
}

function versionRow(visit: ConsoleVisit, site: SiteStatusReport, stored: StoredVersion): RowOfCells {
  const { version, digest, pages, files, bytes, source, createdAt } = stored;
  const isActive = version === site.active?.version && digest === site.active.digest;
  const name = (
    <>
      <Name>{version}</Name> {isActive && <Chip tone="good">active</Chip>}{' '}
      {version === site.pinned && <Chip tone="none">pinned</Chip>}
    </>
  );
  const sizes = [countInWords(pages), countInWords(files), bytesInWords(bytes)];
  const facts = [name, <Digest digest={digest} />, ...sizes, SOURCES[source], <Time at={createdAt} />];
  const actions = !isActive && <VersionActions visit={visit} site={site} version={version} />;
  return { id: `version-${version}`, cells: visit.session === null ? facts : [...facts, actions] };
}

function VersionActions({ visit, site, version }: SiteProps & { readonly version: string }) {
  const base = siteAddress(site.deployment.domain);
  const fields = { version };
  return (
    <>
      <a
        class="button"
        href={`${visit.root}${base}/review?version=${encodeURIComponent(version)}`}
        aria-label={`Activate ${version}`}
      >
        Activate
      </a>
      <ActionForm visit={visit} action={`${base}/preview`} stays fields={fields}>
        <button type="submit" aria-label={`Preview ${version}`}>
          Preview
        </button>
      </ActionForm>
      <details id={`remove-${version}`}>
        <summary class="button" aria-label={`Delete ${version}`}>
          Delete
        </summary>
        <ActionForm visit={visit} action={`${base}/remove`} stays fields={fields}>
          <button type="submit" class="danger">
            Delete {version} permanently
          </button>
        </ActionForm>
      </details>
    </>
  );
}

interface ActionTexts {
  readonly done: (version: string) => string;
  readonly failed: (version: string) => string;
}

function siteAction(id: 'remove' | 'preview', { done, failed }: ActionTexts): ConsoleRoute {
  const act = async (visit: SignedVisit): Promise<Response> => {
    const domain = parameterOf(visit, 'domain');
    const version = fieldOf(visit, 'version');
    const { problem, ...called } = await call(visit, id, { domain, parameters: { version } });
    if (problem !== null) return backTo(visit, siteAddress(domain), { text: failed(version), problem });
    const { value } = called as { readonly value: { readonly link?: string } | null };
    const link = value?.link === undefined ? {} : { link: value.link };
    return backTo(visit, siteAddress(domain), { text: done(version), problem, ...link });
  };
  return { method: 'POST', path: `/sites/:domain/${id}`, act };
}

const SUPPORT_TONES: Readonly<Record<FeatureSupport, ChipTone>> = {
  available: 'good',
  configurable: 'info',
  unavailable: 'none',
};

const FEATURE_NOTES: Readonly<Partial<Record<FeatureId, string>>> = {
  search: 'hosted service',
  localSearch: 'this daemon',
};

function Features({ all, domain }: { readonly all: DaemonFeatures; readonly domain: string | null }) {
  const { features } = all.sites?.find((site) => site.domain === domain) ?? all;
  return (
    <Table
      id="features"
      title="Features"
      note={`in this ${all.deploymentType} deployment`}
      columns={['Feature', 'Support', 'Status', 'Reason']}
      empty="There are no features."
      rows={features.map(({ id, name, support, enabled, reason }) => ({
        id: `feature-${id}`,
        cells: [
          <>
            {name} <code>{id}</code> {FEATURE_NOTES[id] && <small>{FEATURE_NOTES[id]}</small>}
          </>,
          <Chip tone={SUPPORT_TONES[support]}>{support}</Chip>,
          enabled ? <strong>on</strong> : <span class="soft">off</span>,
          <span class="soft">{reason}</span>,
        ],
      }))}
    />
  );
}

const ENFORCE_TEXTS: Readonly<Record<SiteFindings['policy'], { readonly note: string; readonly empty: string }>> = {
  on: {
    note: 'Browsers report these requests, and features.enforce blocks them. Anyone can send such reports, so check the pages with docshelf bundle audit.',
    empty: 'No browser has reported a request to another origin.',
  },
  report: {
    note: 'Browsers report these requests, but features.enforce does not block them. Anyone can send such reports, so check the pages with docshelf bundle audit.',
    empty: 'No browser has reported a request to another origin.',
  },
  off: {
    note: 'Browsers report no requests, because features.enforce is off.',
    empty:
      'To collect browser reports, set features.enforce to "report". To check an archive, run "docshelf bundle audit".',
  },
};

function Findings({ findings }: { readonly findings: SiteFindings }) {
  const { policy, origins, ruleFaults, ruleFaultCount } = findings;
  const left = ruleFaultCount - ruleFaults.length;
  return (
    <>
      <Table
        id="origins"
        title="Requests to other origins"
        note={ENFORCE_TEXTS[policy].note}
        columns={['Origin', 'Reports']}
        numbers={['Reports']}
        empty={ENFORCE_TEXTS[policy].empty}
        rows={origins.map(({ origin, reports }) => ({ cells: [origin, countInWords(reports)] }))}
      />
      {ruleFaultCount > 0 && (
        <Table
          id="rules"
          title="Invalid rules"
          note={`docshelf ignores these rules or applies them only in part.${left > 0 ? ` ${countInWords(left)} more are not shown.` : ''}`}
          columns={['File', 'Line', 'Reason']}
          numbers={['Line']}
          empty=""
          rows={ruleFaults.map(({ file, line, reason }) => ({ cells: [<code>{file}</code>, line ?? 'all', reason] }))}
        />
      )}
    </>
  );
}

import type { BundleSourceKind } from '../../../domain/release.ts';
import type { SiteStatusReport, StoredVersion } from '../../../domain/status.ts';
import { nounOf } from '../../../domain/text.ts';
import { siteAddress } from '../addresses.ts';
import { showPage } from '../layout.tsx';
import { ActionForm } from '../parts/action-form.tsx';
import { SiteAlerts } from '../parts/alerts.tsx';
import { DiffForm } from '../parts/diff-form.tsx';
import { Features } from '../parts/features.tsx';
import { Findings } from '../parts/findings.tsx';
import { SearchBox } from '../parts/search-box.tsx';
import { placeOf, shelfSite } from '../parts/shelf-sites.ts';
import { Chip, STATES, StateChip } from '../parts/state.tsx';
import { Name, Table } from '../parts/tables.tsx';
import { Time, TimeAgo } from '../parts/time.tsx';
import { bytesInWords, countInWords } from '../parts/wording.ts';
import { upload } from '../upload/upload.ts';
import { UploadForm } from '../upload/upload-form.tsx';
import { type ConsoleRoute, type ConsoleVisit, parameterOf } from '../visit.ts';
import { activate, preview, remove, rollback } from './site-actions.ts';

export const siteRoutes: readonly ConsoleRoute[] = [
  { method: 'GET', path: '/sites/:domain', run: showSite },
  { method: 'POST', path: '/sites/:domain/activate', act: activate },
  { method: 'POST', path: '/sites/:domain/rollback', act: rollback },
  { method: 'POST', path: '/sites/:domain/remove', act: remove },
  { method: 'POST', path: '/sites/:domain/preview', act: preview },
  { method: 'POST', path: '/sites/:domain/upload', take: upload },
];

async function showSite(visit: ConsoleVisit): Promise<Response> {
  const status = await visit.parts.status();
  const site = shelfSite(status, parameterOf(visit, 'domain'));
  const content = (
    <>
      <p class="up">
        <a href={visit.root}>All sites</a>
      </p>
      <SiteContent visit={visit} site={site} />
    </>
  );
  return showPage(visit, { title: `${site.deployment.domain}: ${site.state}`, state: status, content });
}

interface SiteProps {
  readonly visit: ConsoleVisit;
  readonly site: SiteStatusReport;
}

/** One site in full. */
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
        <ActiveCard visit={visit} site={site} address={observed.address} />
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

function ActiveCard({ visit, site, address }: SiteProps & { readonly address: string }) {
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
          <a href={address}>{placeOf(site)}</a>
        </Fact>
      </dl>
      <ActionForm visit={visit} action={`${siteAddress(site.deployment.domain)}/rollback`} stays>
        <button type="submit">Roll back</button>
      </ActionForm>
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
          by words {search.keyword}, by meaning {search.semantic}; {countInWords(search.sections)}{' '}
          {nounOf(search.sections, 'section')}, {countInWords(search.embedded)} embedded
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
      columns={['Version', 'Digest', 'Pages', 'Files', 'Size', 'From', 'Created', ...(isSignedIn ? ['Actions'] : [])]}
      numbers={['Pages', 'Files', 'Size']}
      empty="No version is stored yet."
      rows={versions.map((version) => <VersionRow visit={visit} site={site} version={version} />)}
    />
  );
}

function VersionRow({ visit, site, version: each }: SiteProps & { readonly version: StoredVersion }) {
  const { version, digest, pages, files, bytes, source, createdAt } = each;
  const isActive = version === site.active?.version && digest === site.active.digest;
  return (
    <tr id={`version-${version}`}>
      <th scope="row">
        <Name>{version}</Name> {isActive && <Chip tone="good">active</Chip>}{' '}
        {version === site.pinned && <Chip tone="none">pinned</Chip>}
      </th>
      <td data-column="Digest">
        <Digest digest={digest} />
      </td>
      <td data-column="Pages" class="number">
        {countInWords(pages)}
      </td>
      <td data-column="Files" class="number">
        {countInWords(files)}
      </td>
      <td data-column="Size" class="number">
        {bytesInWords(bytes)}
      </td>
      <td data-column="From">{SOURCES[source]}</td>
      <td data-column="Created">
        <Time at={createdAt} />
      </td>
      {visit.session && <VersionActions visit={visit} site={site} version={version} isActive={isActive} />}
    </tr>
  );
}

/** Names of buttons say of which version: a list of them is what some readers hear. */
function VersionActions({ visit, site, version, isActive }: SiteProps & { version: string; isActive: boolean }) {
  const base = siteAddress(site.deployment.domain);
  const fields = { version };
  return (
    <td data-column="Actions" class="acts">
      {!isActive && (
        <>
          <ActionForm visit={visit} action={`${base}/activate`} stays fields={fields}>
            <button type="submit" aria-label={`Activate ${version}`}>
              Activate
            </button>
          </ActionForm>
          <ActionForm visit={visit} action={`${base}/preview`} stays fields={fields}>
            <button type="submit" aria-label={`Preview ${version}`}>
              Preview
            </button>
          </ActionForm>
          <details id={`remove-${version}`}>
            <summary class="button" aria-label={`Remove ${version}`}>
              Remove
            </summary>
            <ActionForm visit={visit} action={`${base}/remove`} stays fields={fields}>
              <button type="submit" class="danger">
                Remove {version} for good
              </button>
            </ActionForm>
          </details>
        </>
      )}
    </td>
  );
}

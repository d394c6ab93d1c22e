import { html } from 'hono/html';
import type { DaemonFeatures, FeatureSupport } from '../../domain/feature.ts';
import type { BundleSourceKind } from '../../domain/release.ts';
import type { SiteStatusReport, StatusReport } from '../../domain/status.ts';
import { bytesInWords, countInWords, timeInWords } from './wording.ts';

export type Markup = ReturnType<typeof html>;

const SOURCE: Readonly<Record<BundleSourceKind, string>> = {
  url: 'bundleUrl',
  preload: 'preload folder',
  inbox: 'inbox',
  import: 'command line',
  upload: 'upload',
  export: 'export',
};

export function versionsTable({ versions, active, pinned }: StatusReport): Markup {
  const rows = versions.map((each) => {
    const isActive = each.version === active?.version && each.digest === active.digest;
    return html`<tr>
<th scope="row">${each.version} ${isActive ? html`<span class="chip good">active</span>` : ''} ${each.version === pinned ? html`<span class="chip none">pinned</span>` : ''}</th>
<td><code title="${each.digest}">${each.digest.slice(0, 12)}</code></td>
<td class="number">${countInWords(each.pages)}</td>
<td class="number">${countInWords(each.files)}</td>
<td class="number">${bytesInWords(each.bytes)}</td>
<td>${SOURCE[each.source]}</td>
<td>${time(each.createdAt)}</td>
</tr>`;
  });
  return html`<div class="title"><h2 id="versions">Versions</h2><small>${countInWords(versions.length)} stored</small></div>
<div class="table" role="region" aria-labelledby="versions" tabindex="0"><table>
<thead><tr><th scope="col">Version</th><th scope="col">Digest</th><th scope="col" class="number">Pages</th><th scope="col" class="number">Files</th><th scope="col" class="number">Size</th><th scope="col">From</th><th scope="col">Created</th></tr></thead>
<tbody>${rows.length > 0 ? rows : html`<tr><td class="empty" colspan="7">No version is stored yet.</td></tr>`}</tbody>
</table></div>`;
}

/** Of a daemon with several: where each answers, what it serves, and what is wrong with it. */
export function sitesTable(sites: readonly SiteStatusReport[]): Markup {
  const rows = sites.map(
    ({ deployment, hosts, basePath, state, active, search, lastError }) => html`<tr>
<th scope="row">${deployment.domain}</th>
<td>${hosts.length === 0 ? 'every other host' : hosts.join(', ')} <code>${basePath}</code></td>
<td>${state}</td>
<td>${active === null ? html`<span class="soft">none</span>` : active.version}</td>
<td class="number">${active === null ? '' : countInWords(active.pages)}</td>
<td>${search?.keyword ?? 'off'}</td>
<td class="soft">${lastError?.message ?? ''}</td>
</tr>`,
  );
  return html`<div class="title"><h2 id="sites">Sites</h2><small>${countInWords(sites.length)} on this shelf</small></div>
<div class="table" role="region" aria-labelledby="sites" tabindex="0"><table>
<thead><tr><th scope="col">Site</th><th scope="col">Answers</th><th scope="col">State</th><th scope="col">Version</th><th scope="col" class="number">Pages</th><th scope="col">Search</th><th scope="col">Last error</th></tr></thead>
<tbody>${rows}</tbody>
</table></div>`;
}

const SUPPORT_CLASS: Readonly<Record<FeatureSupport, string>> = {
  available: 'good',
  configurable: 'info',
  unavailable: 'none',
};

export function featuresTable({ features, deploymentType }: DaemonFeatures): Markup {
  const rows = features.map(
    (each) => html`<tr>
<th scope="row">${each.name}</th>
<td><code>${each.id}</code></td>
<td><span class="chip ${SUPPORT_CLASS[each.support]}">${each.support}</span></td>
<td>${each.enabled ? html`<strong>on</strong>` : html`<span class="soft">off</span>`}</td>
<td class="soft">${each.reason}</td>
</tr>`,
  );
  return html`<div class="title"><h2 id="features">Features</h2><small>in this ${deploymentType} deployment</small></div>
<div class="table" role="region" aria-labelledby="features" tabindex="0"><table>
<thead><tr><th scope="col">Feature</th><th scope="col">Id</th><th scope="col">Support</th><th scope="col">Here</th><th scope="col">Why</th></tr></thead>
<tbody>${rows}</tbody>
</table></div>`;
}

export function time(rfc3339: string): Markup {
  return html`<time datetime="${rfc3339}">${timeInWords(rfc3339)}</time>`;
}

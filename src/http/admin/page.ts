import { html, raw } from 'hono/html';
import type { DaemonFeatures } from '../../domain/feature.ts';
import type { DeployState, StatusReport } from '../../domain/status.ts';
import { PAGE_STYLE } from './page-style.ts';
import { featuresTable, type Markup, sitesTable, time, versionsTable } from './page-tables.ts';
import { agoInWords, bytesInWords, countInWords } from './wording.ts';

const STATE: Readonly<Record<DeployState, { readonly tone: string; readonly meaning: string }>> = {
  ready: { tone: 'good', meaning: 'What the config asks for is served.' },
  stale: { tone: 'warn', meaning: 'What the config asks for could not be had: the last good version is served.' },
  waiting: { tone: 'bad', meaning: 'No version is active yet: readers are told so.' },
  off: { tone: 'none', meaning: 'Serving is turned off by staticExport.enabled.' },
};

/** While something is under way; at rest it leaves the reader in peace (WCAG 2.2.2). */
const REFRESH_S = 5;

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Cpath fill='%232f6fdb' d='M5 5h6v19H5zM13 8h6v16h-6z'/%3E%3Cpath fill='%2318a06a' d='m20 9 5-2 6 17-5 2z'/%3E%3Cpath fill='%23838d9b' d='M3 26h27v2H3z'/%3E%3C/svg%3E";

export function adminPage(status: StatusReport, features: DaemonFeatures, now: Date): Markup {
  const { state, deployment, activity, sites = [] } = status;
  const name = deployment.domain ?? `${countInWords(sites.length)} sites`;
  const { tone, meaning } = STATE[state];
  const isMoving = activity !== null || state === 'waiting';
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${isMoving ? html`<meta http-equiv="refresh" content="${REFRESH_S}">` : ''}
<title>${name}: ${state} · docshelf</title>
<link rel="icon" href="${ICON}">
<style>${raw(PAGE_STYLE)}</style>
</head>
<body>
<header>
${logo()}
<div><h1>${name}</h1><small>docshelf · ${deployment.type} deployment</small></div>
<strong class="state ${tone}">${state}</strong>
</header>
<main>
${alerts(status, now)}
<section class="cards" aria-label="Overview">
${deployment.domain === null ? '' : activeCard(status, meaning, now)}
${reloadCard(status, now)}
${workCard(status)}
</section>
${
  deployment.domain === null
    ? sitesTable(sites)
    : html`${versionsTable(status)}
${featuresTable(features)}`
}
</main>
<footer>
<a href="v1/status">Status as JSON</a><a href="v1/features">Features as JSON</a><a href="metrics">Metrics</a>
<span class="soft">docshelf ${status.programVersion}, running since ${time(status.startedAt)} · as of ${time(now.toISOString())}</span>
</footer>
</body>
</html>
`;
}

function activeCard({ active, pinned }: StatusReport, meaning: string, now: Date): Markup {
  if (active === null) {
    return html`<div class="card lead"><h2>Active version</h2><p class="big">none</p><p class="soft">${meaning}</p></div>`;
  }
  return html`<div class="card lead"><h2>Active version</h2>
<p class="big">${active.version} ${pinned === active.version ? html`<span class="chip none">pinned</span>` : ''}</p><p class="soft">${meaning}</p>
<dl class="facts">
<div><dt>Since</dt><dd>${time(active.activatedAt)} <small>${agoInWords(active.activatedAt, now)}</small></dd></div>
<div><dt>Pages</dt><dd>${countInWords(active.pages)}</dd></div>
<div><dt>Size</dt><dd>${bytesInWords(active.bytes)}</dd></div>
${pinned === null || pinned === active.version ? '' : html`<div><dt>Pinned</dt><dd>${pinned}</dd></div>`}
<div><dt>Digest</dt><dd><code title="${active.digest}">${active.digest.slice(0, 12)}</code></dd></div>
</dl></div>`;
}

function reloadCard({ lastReload, pending }: StatusReport, now: Date): Markup {
  const waits =
    pending.length === 0 ? '' : html`<p class="soft">Waits for a restart: <code>${pending.join(', ')}</code></p>`;
  if (lastReload === null) {
    return html`<div class="card"><h2>Last reload</h2><p class="big">none</p><p class="soft">The config is as it was at the start.</p>${waits}</div>`;
  }
  return html`<div class="card"><h2>Last reload</h2>
<p class="big">${lastReload.ok ? 'succeeded' : 'refused'}</p>
<p class="soft">${time(lastReload.at)} <span class="ago">${agoInWords(lastReload.at, now)}</span></p>${waits}</div>`;
}

function workCard({ search, jobs }: StatusReport): Markup {
  const searching =
    search &&
    html`<p>Keyword search <strong>${search.keyword}</strong>, semantic <strong>${search.semantic}</strong></p>
<p class="soft">${countInWords(search.sections)} sections, ${countInWords(search.embedded)} embedded</p>`;
  return html`<div class="card"><h2>${search === null ? 'Exports' : 'Search and exports'}</h2>
${searching ?? ''}
<p class="soft">Export jobs: ${countInWords(jobs.running)} running, ${countInWords(jobs.queued)} queued</p></div>`;
}

function alerts({ lastError, lastReload, activity, notices }: StatusReport, now: Date): Markup[] {
  const found: Markup[] = [];
  if (lastError !== null) {
    const { at, code, message, next } = lastError;
    found.push(html`<section class="alert bad"><h2>Last error</h2><p>${message}</p>
${next === null ? '' : html`<p><strong>Next:</strong> ${next}</p>`}
<p><small><code>${code}</code>, ${time(at)}, ${agoInWords(at, now)}</small></p></section>`);
  }
  if (lastReload !== null && !lastReload.ok && lastReload.error !== lastError?.message) {
    found.push(html`<section class="alert bad"><h2>The changed config was refused</h2><p>${lastReload.error ?? ''}</p>
<p><small>The one before it is still in force.</small></p></section>`);
  }
  if (activity !== null) {
    found.push(html`<section class="alert info"><h2>Under way</h2><p>${activity}</p></section>`);
  }
  if (notices.length > 0) {
    const items = notices.map((notice) => html`<li>${notice}</li>`);
    found.push(html`<section class="alert info"><h2>Good to know</h2><ul>${items}</ul></section>`);
  }
  return found;
}

function logo(): Markup {
  return html`<svg width="40" height="40" viewBox="0 0 32 32" aria-hidden="true"><path fill="#2f6fdb" d="M5 5h6v19H5zM13 8h6v16h-6z"/><path fill="#18a06a" d="m20 9 5-2 6 17-5 2z"/><path fill="#838d9b" d="M3 26h27v2H3z"/></svg>`;
}

import { createHash } from 'node:crypto';
import type { DocshelfError } from '../../../src/domain/errors.ts';
import type { KeyType, Organization, OrganizationSite } from '../../../src/domain/organization.ts';
import { type ApiOptions, createApiApp } from '../../../src/http/api/api.ts';
import { accessOf } from '../../../src/http/api/auth.ts';
import { API_INFO, calls, searchResults } from '../../../src/http/api/operations.ts';
import { FolderCounter } from '../../../src/http/limits/folder-counter.ts';
import type { RequestCounter } from '../../../src/http/limits/organization-rates.ts';
import { openApiDocument } from '../../../src/http/openapi.ts';
import { type Search, type SearchRequest, writeAnswer } from '../../../src/search/index.ts';
import { NO_TRACES } from '../../../src/traces/tracer.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { memoryAudit } from '../audit/memory-audit.ts';
import { exportsInMemory } from './exports-in-memory.ts';

export const KEY = 'svc_dsc_acme';
export const ADMIN_KEY = 'svc_dsc_looks_like_an_assistant_key';
export const OTHER_KEY = 'svc_other';
/** Key of an organization whose plan has no static exports. */
export const TEAM_ADMIN_KEY = 'svc_team';
/** Key of another organization whose plan has exports. */
export const GLOBEX_ADMIN_KEY = 'svc_globex';
export const RESULTS = searchResults;

const keyOf = (key: string, type: KeyType) => ({
  id: type,
  type,
  sha256: createHash('sha256').update(key).digest('hex'),
});

const site = (domain: string, hosts: readonly string[] = [], isExported = false): OrganizationSite => ({
  domain,
  hosts,
  source: isExported ? { kind: 'folder', path: `/srv/${domain}` } : null,
});

export const ORGANIZATIONS: readonly Organization[] = [
  {
    id: 'acme-inc',
    plan: 'enterprise',
    sites: [site('acme', ['docs.acme.dev'], true), site('elsewhere')],
    keys: [keyOf(KEY, 'assistant'), keyOf(ADMIN_KEY, 'admin')],
  },
  {
    id: 'other',
    plan: 'team',
    sites: [site('beta', [], true)],
    keys: [keyOf(OTHER_KEY, 'assistant'), keyOf(TEAM_ADMIN_KEY, 'admin')],
  },
  {
    id: 'globex',
    plan: 'enterprise',
    sites: [site('globex', ['docs.globex.dev'], true)],
    keys: [keyOf(GLOBEX_ADMIN_KEY, 'admin')],
  },
];

/** Request counter of a new daemon, which has counted no request yet. */
export function ratesOf(options: Partial<ConstructorParameters<typeof FolderCounter>[0]> = {}): RequestCounter {
  const onFault = (error: unknown): never => {
    throw error;
  };
  return new FolderCounter({ dir: newFolder(), onFault, ...options });
}

/** Search that records its requests. */
export function searchThatNotes(requests: SearchRequest[]): Search {
  return {
    search: async (request) => {
      requests.push(request);
      return writeAnswer(RESULTS.slice(0, request.pageSize));
    },
  };
}

/**
 * API with in-memory exports and a search that records its requests. The daemon has the sites `acme` and `beta`. @param without
 * options to omit
 */
export function apiWith(changes: Partial<ApiOptions> = {}, without: readonly (keyof ApiOptions)[] = []) {
  const requests: SearchRequest[] = [];
  const faults: DocshelfError[] = [];
  const reported: string[] = [];
  const access = accessOf(ORGANIZATIONS);
  const { exports, queue, store } = exportsInMemory();
  const options: ApiOptions = {
    access: () => access,
    search: (domain) => (domain === 'elsewhere' ? null : searchThatNotes(requests)),
    rates: ratesOf(),
    metrics: { onError: (code) => reported.push(code) },
    programVersion: '1.2.3',
    publicUrl: () => null,
    ownSite: () => null,
    tracer: NO_TRACES,
    audit: memoryAudit().audit,
    onError: (error) => faults.push(error),
    exports,
    ...changes,
  };
  const left = Object.entries(options).filter(([name]) => !without.includes(name as keyof ApiOptions));
  const app = createApiApp(Object.fromEntries(left) as unknown as ApiOptions);
  return { app, requests, faults, reported, queue, store };
}

/** OpenAPI document of the enabled parts, without the app. */
export function documentOf(
  offered: { readonly search: boolean; readonly exports: boolean },
  publicUrl: string | null = null,
) {
  const { startExport, listExports, getExport, cancelExport, getExportReport, getExportPicture, linkBundle } = calls;
  const ofJobs = [startExport, listExports, getExport, cancelExport, getExportReport, getExportPicture, linkBundle];
  const operations = [...(offered.search ? [calls.search] : []), ...(offered.exports ? ofJobs : [])];
  return openApiDocument(operations, { ...API_INFO, programVersion: '1.2.3', publicUrl });
}

/** Search by POST. A body of type string is sent unchanged, others as JSON. */
export function post(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

import { hostName } from '../../domain/deployment.ts';
import { jsonOf, membersIn } from '../../domain/shape.ts';
import { counted } from '../../domain/text.ts';
import { collect } from '../../files/index.ts';
import { protocolLine } from '../../site/index.ts';

export const REPORTS_PATH = '/_docshelf/csp-report';
const REPORT_BYTES_MAX = 16 * 1024;
/** Maximum origins to count separately, because any client can send reports. Further origins are counted together. */
const ORIGINS_MAX = 100;
const TOLD_MAX = 10;
const OTHERS = 'others';
/** Maximum length of an origin. A host name has at most 253 letters. */
const ORIGIN_LENGTH_MAX = 270;
/** Maximum browser reports in one request. A browser collects the reports of a minute, and sends them together. */
const REPORTS_MAX = 100;

export interface ReportedOrigin {
  readonly origin: string;
  readonly reports: number;
}

export interface ReportedSite {
  readonly policy: 'off' | 'report' | 'on';
  readonly basePath: string;
  readonly hosts: readonly string[];
}

/** Anyone can report an origin, because the endpoint needs no sign-in. Never recommend allowing a reported origin. */
export class PageReports {
  readonly #counts = new Map<string, number>();
  readonly #onReport: (origin: string) => void;
  readonly #site: () => ReportedSite;

  constructor(onReport: (origin: string) => void, site: () => ReportedSite) {
    this.#onReport = onReport;
    this.#site = site;
  }

  async answer(request: Request): Promise<Response> {
    const bytes = request.body === null ? Buffer.alloc(0) : await collect(request.body, REPORT_BYTES_MAX);
    if (bytes === null) return new Response(null, { status: 413, headers: { Connection: 'close' } });
    if (!this.#isOn)
      return protocolLine('POST', 404, 'Not found: features.enforce is off, so docshelf accepts no reports');
    const reports = reportsIn(bytes);
    if (reports === null) return protocolLine('POST', 400, 'Bad request: the body is not a browser report');
    const own = isFromElsewhere(request, this.#site()) ? [] : reports.filter(isOwn(request, this.#site()));
    if (own.length === 0)
      return protocolLine('POST', 403, 'Forbidden: the report is not about a document of this site');
    for (const { blocked } of own) {
      const origin = loadedOrigin(blocked);
      if (origin !== null) this.#count(origin);
    }
    return new Response(null, { status: 204 });
  }

  get #isOn(): boolean {
    return this.#site().policy !== 'off';
  }

  get counts(): ReportedOrigin[] {
    if (!this.#isOn) return [];
    return Array.from(this.#counts, ([origin, reports]) => ({ origin, reports })).sort((a, b) => b.reports - a.reports);
  }

  get notices(): string[] {
    return this.counts
      .slice(0, TOLD_MAX)
      .map(
        ({ origin, reports }) =>
          `Pages tried to load from ${origin} (${counted(reports, 'browser report')}), which features.enforce does not allow. Anyone can send such reports. To check the pages, run "docshelf bundle audit".`,
      );
  }

  #count(origin: string): void {
    const isKept = this.#counts.has(origin) || this.#counts.size < ORIGINS_MAX;
    const key = isKept && origin.length <= ORIGIN_LENGTH_MAX ? origin : OTHERS;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    this.#onReport(key);
  }
}

interface Report {
  readonly document: unknown;
  readonly blocked: unknown;
}

/** Parses browser reports in the formats of `report-uri` and `report-to`. Null if the body has neither format. */
function reportsIn(bytes: Buffer): Report[] | null {
  const parsed = jsonOf(bytes.toString());
  if (!Array.isArray(parsed)) {
    const { 'csp-report': report } = membersIn(parsed);
    if (report === undefined) return null;
    const { 'document-uri': document, 'blocked-uri': blocked } = membersIn(report);
    return [{ document, blocked }];
  }
  const reports = parsed.slice(0, REPORTS_MAX).filter((each) => membersIn(each).body !== undefined);
  if (reports.length === 0) return null;
  return reports.map((each) => {
    const { url, body } = membersIn(each);
    const { documentURL, blockedURL } = membersIn(body);
    return { document: documentURL ?? url, blocked: blockedURL };
  });
}

const namesOf = ({ headers, url }: Request, { hosts }: ReportedSite): ReadonlySet<string> =>
  new Set([headers.get('host') ?? new URL(url).host, ...hosts].map(hostName));

function isFromElsewhere(request: Request, site: ReportedSite): boolean {
  const fetchSite = request.headers.get('sec-fetch-site');
  if (fetchSite !== null && fetchSite !== 'same-origin' && fetchSite !== 'none') return true;
  const origin = request.headers.get('origin');
  if (origin === null || origin === 'null') return false;
  return !namesOf(request, site).has(hostName(URL.parse(origin)?.host ?? ''));
}

/** Checks whether a report is about a page of the site. Ignores scheme and port, because a proxy can change them. */
function isOwn(request: Request, site: ReportedSite): (report: Report) => boolean {
  const names = namesOf(request, site);
  return ({ document }) => {
    const url = URL.parse(String(document));
    if (url === null || !/^https?:$/.test(url.protocol) || !names.has(hostName(url.host))) return false;
    return `${url.pathname}/`.startsWith(site.basePath);
  };
}

/** Origin of the blocked address. Null for other text, such as `inline`, `eval` or `data`. */
function loadedOrigin(blocked: unknown): string | null {
  const url = URL.parse(String(blocked));
  return url !== null && /^(?:https?|wss?):$/.test(url.protocol) ? url.origin : null;
}

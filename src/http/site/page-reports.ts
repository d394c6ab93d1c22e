import { collect } from '../../files/index.ts';

/** Below the base path. */
export const REPORTS_PATH = '/_docshelf/csp-report';
/** What browsers say that pages tried to load, in both formats, of which each browser sends one. */
export const REPORT_BYTES_MAX = 16 * 1024;
/** Anybody may send one: what is behind these is counted together. */
const ORIGINS_MAX = 100;
const TOLD_MAX = 10;
const OTHERS = 'others';
/** Of one request: browsers gather what happens within a minute. */
const REPORTS_MAX = 100;

/** That pages tried to load from. */
export interface ReportedOrigin {
  /** `others` for those beyond the hundredth. */
  readonly origin: string;
  /** Of browsers, since the daemon was started. */
  readonly reports: number;
}

/** Counts what a policy of docshelf has kept pages from, by origin (contract, section 4.1). */
export class PageReports {
  readonly #counts = new Map<string, number>();
  readonly #onReport: (origin: string) => void;

  constructor(onReport: (origin: string) => void) {
    this.#onReport = onReport;
  }

  async answer(request: Request): Promise<Response> {
    const bytes = request.body === null ? Buffer.alloc(0) : await collect(request.body, REPORT_BYTES_MAX);
    if (bytes === null) return new Response(null, { status: 413, headers: { Connection: 'close' } });
    const origins = originsOf(bytes);
    if (origins === null) return new Response(null, { status: 400 });
    for (const origin of origins) this.#count(origin);
    return new Response(null, { status: 204 });
  }

  /** The most frequent first. */
  get counts(): ReportedOrigin[] {
    return Array.from(this.#counts, ([origin, reports]) => ({ origin, reports })).sort((a, b) => b.reports - a.reports);
  }

  /** One sentence each. */
  get notices(): string[] {
    return this.counts
      .slice(0, TOLD_MAX)
      .map(
        ({ origin, reports }) =>
          `Pages tried to load from ${origin} (${reports} reports of browsers), which features.enforce keeps to the features that are on; name it in the origins of one that needs it.`,
      );
  }

  #count(origin: string): void {
    const counted = this.#counts.has(origin) || this.#counts.size < ORIGINS_MAX ? origin : OTHERS;
    this.#counts.set(counted, (this.#counts.get(counted) ?? 0) + 1);
    this.#onReport(counted);
  }
}

/** Null for what is no report. Schemes, inline scripts and what is no address are left out. */
function originsOf(bytes: Buffer): string[] | null {
  let said: unknown;
  try {
    said = JSON.parse(bytes.toString());
  } catch {
    return null;
  }
  const reports = Array.isArray(said)
    ? said.slice(0, REPORTS_MAX).map((each) => memberOf(each, 'body'))
    : [memberOf(said, 'csp-report')];
  if (reports.every((report) => report === undefined)) return null;
  return reports
    .map((report) => URL.parse(String(memberOf(report, 'blockedURL') ?? memberOf(report, 'blocked-uri'))))
    .filter((url) => url !== null && /^(?:https?|wss?):$/.test(url.protocol))
    .map((url) => url?.origin ?? '');
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

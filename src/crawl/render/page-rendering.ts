import type { RenderSettings } from '../../domain/crawl.ts';
import { DocshelfError } from '../../domain/errors.ts';
import type { CrawlFindings, Naming } from '../admission.ts';
import type { ChromiumRenderer } from '../browser/chromium-renderer.ts';
import type { Crawl } from '../crawl.ts';
import type { ContentEntry } from '../entry.ts';
import type { KeptContent } from '../kept/content-packs.ts';
import type { Scope } from '../scope.ts';
import { chooseHtml } from './choose-html.ts';
import {
  type AnswerRequest,
  findingsOf,
  type LivePage,
  livePageOf,
  type PageRequest,
  type RenderSession,
} from './rendered-page.ts';

export interface PageRenderingOptions {
  readonly settings: RenderSettings;
  readonly crawl: Pick<Crawl, 'ask' | 'name' | 'settle'>;
  readonly scope: Scope;
  readonly kept: KeptContent;
  readonly findings: CrawlFindings;
  readonly signal: AbortSignal;
}

/** The crawl sends its own, or none. */
const NOT_SENT: ReadonlySet<string> = new Set(['cookie', 'authorization']);

/** The browser asks the crawl for everything; links that scripts have made, and text that originals lack, are taken on. */
export class PageRendering {
  /** By address. */
  readonly seen = new Map<string, LivePage>();
  readonly #options: PageRenderingOptions;
  #session: RenderSession | null = null;

  static async open(renderer: Pick<ChromiumRenderer, 'open'>, options: PageRenderingOptions): Promise<PageRendering> {
    const rendering = new PageRendering(options);
    rendering.#session = await renderer.open(rendering.#answer);
    return rendering;
  }

  private constructor(options: PageRenderingOptions) {
    this.#options = options;
  }

  readonly render = async (entry: ContentEntry): Promise<void> => {
    const { settings, crawl, kept, findings, signal } = this.#options;
    const { url, depth, isFollowed } = entry;
    if (this.#session === null) throw new Error('the browser is not open');
    const page = await this.#session.render(url, { signal });
    this.seen.set(url, livePageOf(page));
    for (const finding of findingsOf(url, page)) findings.tell(finding);
    if (page.dom === null) return;
    if (isFollowed) {
      for (const link of page.dom.links) this.#name(link, { askedAs: 'link', referrer: url, depth: depth + 1 });
    }
    const bytes = await kept.read(entry.fetched.content);
    const chosen = chooseHtml(new TextDecoder(entry.charset ?? 'utf-8').decode(bytes), page, settings.scripts);
    // No browser reads HTML in a file of XHTML.
    if (chosen.kind === 'settled' && entry.type === 'text/html')
      await crawl.settle(entry, new TextEncoder().encode(chosen.html));
  };

  async close(): Promise<void> {
    await this.#session?.close();
  }

  #name(link: string, naming: Naming): void {
    const { crawl, scope } = this.#options;
    const url = URL.parse(link);
    const canonical = url === null ? null : scope.canonical(url);
    if (canonical !== null) crawl.name(canonical, naming);
  }

  readonly #answer: AnswerRequest = async (request) => {
    const { crawl, scope, kept } = this.#options;
    const url = scope.canonical(new URL(request.url));
    const entry = url === null ? null : await crawl.ask(url, namingOf(request));
    if (entry === null || entry.fetched === null) {
      throw new DocshelfError('source_failed', `Cannot fetch "${request.url}": the export leaves it out`);
    }
    return kept.answer(entry.fetched);
  };
}

function namingOf({ isNavigation, pageUrl: referrer, headers }: PageRequest): Naming {
  const said = Object.entries(headers).filter(([name]) => !NOT_SENT.has(name));
  return { askedAs: isNavigation ? 'frame' : 'browser', referrer, depth: 0, headers: Object.fromEntries(said) };
}

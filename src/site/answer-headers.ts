import { LRUCache } from 'lru-cache';
import { type AnswerHeaders, COMMON_HEADERS } from '../domain/own-headers.ts';
import type { HeaderRules, SiteHeaders } from '../web/rules/index.ts';

export interface HeaderForm {
  readonly preset: 'none' | 'recommended';
  /** Headers that override those of the preset and site. An empty value removes the header. */
  readonly set: AnswerHeaders;
  readonly policy: AnswerHeaders;
}

export const RECOMMENDED: HeaderForm = { preset: 'recommended', set: {}, policy: {} };

const DOCUMENT_PRESET: AnswerHeaders = {
  'Referrer-Policy': 'same-origin',
  'X-Frame-Options': 'SAMEORIGIN',
  'Cross-Origin-Opener-Policy': 'same-origin-allow-popups',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
};
const PAGE = /^(?:text\/html|application\/xhtml\+xml)(?:;|$)/;
const MARKDOWN = /^text\/markdown(?:;|$)/;
export const VARIES = 'Accept-Encoding, Accept';
const DOCUMENT = /^(?:text\/(?:html|xml)|application\/(?:xhtml\+xml|xml)|image\/svg\+xml)(?:;|$)/;

export interface ExtraHeaders {
  /** Id of this set of headers, which is a part of cache keys. Empty if no rule of the site applies. */
  readonly id: string;
  readonly headers: AnswerHeaders;
  /** `Cache-Control` from the site or operator. If null, docshelf sends `immutable` or `no-cache`, depending on the file's name. */
  readonly cacheControl: string | null;
}

interface SentByKind {
  readonly page: ExtraHeaders;
  readonly markdown: ExtraHeaders;
  readonly document: ExtraHeaders;
  readonly other: ExtraHeaders;
}

class Headers {
  readonly #byName = new Map<string, readonly [name: string, value: string]>();

  set(name: string, value: string): void {
    if (value === '') this.#byName.delete(name.toLowerCase());
    else this.#byName.set(name.toLowerCase(), [name, value]);
  }

  add(name: string, value: string): void {
    const former = this.take(name);
    this.set(name, former === null ? value : `${former}, ${value}`);
  }

  take(name: string): string | null {
    const found = this.#byName.get(name.toLowerCase());
    this.#byName.delete(name.toLowerCase());
    return found?.[1] ?? null;
  }

  toObject(): AnswerHeaders {
    return Object.fromEntries(this.#byName.values());
  }
}

/** Maximum characters of the cached headers of a site. */
const CACHED_CHARS_MAX = 8 * 1024 ** 2;

/** Combines headers of the preset, the site's rules and the operator, in ascending precedence. */
export class HeaderPolicy {
  readonly #form: HeaderForm;
  readonly #rules: HeaderRules;
  readonly #hasMarkdown: boolean;
  readonly #made = new LRUCache<string, SentByKind>({
    maxSize: CACHED_CHARS_MAX,
    sizeCalculation: (made) => JSON.stringify(made).length,
  });

  constructor(form: HeaderForm, rules: HeaderRules, hasMarkdown = false) {
    this.#form = form;
    this.#rules = rules;
    this.#hasMarkdown = hasMarkdown;
  }

  /** Returns headers for a file. @param asked decoded path with its first slash and the base path for which the release was built */
  headersFor(asked: string, type: string): ExtraHeaders {
    const { page, markdown, document, other } = this.#byKind(asked);
    if (PAGE.test(type)) return page;
    if (MARKDOWN.test(type)) return markdown;
    return DOCUMENT.test(type) ? document : other;
  }

  #byKind(asked: string): SentByKind {
    const own = this.#rules.headersFor(asked);
    const known = this.#made.get(own.id);
    if (known !== undefined) return known;
    const made = this.#make(own);
    this.#made.set(own.id, made);
    return made;
  }

  #make(own: SiteHeaders): SentByKind {
    const document = this.#sent(own, true);
    const other = this.#sent(own, false);
    const vary = this.#hasMarkdown ? { Vary: VARIES } : {};
    const page = { ...document, headers: { ...vary, ...document.headers } };
    const markdown = { ...other, headers: { ...vary, ...other.headers } };
    return { page, markdown, document, other };
  }

  #sent(own: SiteHeaders, isDocument: boolean): ExtraHeaders {
    // `satisfies` makes the compiler reject a new field of `HeaderForm` until this function uses it.
    const { preset, set, policy, ...others } = this.#form;
    others satisfies Record<string, never>;
    const usual = preset === 'none' ? {} : { ...COMMON_HEADERS, ...(isDocument && DOCUMENT_PRESET) };
    const headers = new Headers();
    for (const [name, value] of Object.entries(usual)) if (!own.removed.has(name)) headers.set(name, value);
    for (const [name, value] of [...own.set, ...Object.entries(set)]) headers.set(name, value);
    for (const [name, value] of Object.entries(policy)) headers.add(name, value);
    const cacheControl = headers.take('Cache-Control');
    return { id: own.id, headers: headers.toObject(), cacheControl };
  }
}

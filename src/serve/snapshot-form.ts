import type { TrailingSlash } from '../domain/release.ts';
import type { PageAdditions } from '../web/additions/page-additions.ts';
import type { HeaderForm } from './answer-headers.ts';
import type { SearchForm } from './notices/notice.ts';

/** Plain data. */
export interface SnapshotForm {
  /** Identifier of the site, which takes turns with others. Default: each release by itself. */
  readonly site?: string;
  /** `auto` asks each release; the others overrule it. */
  readonly trailingSlash: 'auto' | TrailingSlash;
  /** Of the site; by default that of its first page. */
  readonly title?: string | null;
  /** Where the site is mounted, with its last slash; by default `/`. A release that was built for another is rewritten. */
  readonly basePath?: string;
  readonly headers?: HeaderForm;
  /** Answers paths without an extension that nothing else answers with the start page. */
  readonly spaFallback?: boolean;
  /** Pages are answered as Markdown, too, to whoever asks for that. */
  readonly markdown?: boolean;
  /** To each page; by default nothing. */
  readonly additions?: PageAdditions;
  /** On docshelf's own 404 page; by default none. */
  readonly search?: SearchForm | null;
}

/** With what is no plain data. */
export interface SnapshotSettings extends SnapshotForm {
  /** To the page of a path (`guides/start.html`), after those of the form. Equal answers for equal paths. */
  readonly additionsOf?: (path: string) => Promise<PageAdditions>;
}

import { serve } from '../../threads/index.ts';
import { type MarkdownInput, markdownOf } from '../../web/markdown/index.ts';
import { pageText } from '../../web/page-text.ts';

/** Makes Markdown of pages: one of 400 KiB takes 200 ms (measured), for which no request may wait. */

export interface TwinOrder extends Omit<MarkdownInput, 'html'> {
  readonly bytes: Uint8Array;
  /** With its charset. */
  readonly type: string;
}

const handlers = {
  markdown: ({ bytes, type, ...page }: TwinOrder): string =>
    markdownOf({ ...page, html: pageText(bytes, type) }).markdown,
};
export type TwinCalls = typeof handlers;

serve(handlers);

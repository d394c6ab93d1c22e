import { serve } from '../../threads/index.ts';
import { type MarkdownInput, markdownOf } from '../../web/markdown/index.ts';
import { pageText } from '../../web/media-type.ts';
import { type ListAnswer, llmsText, orderPages } from './llms-text.ts';
import { type HeadsOrder, readHeads } from './read-heads.ts';

/** Makes Markdown of pages: one of 400 KiB takes 200 ms (measured), for which no request may wait. */

export interface TwinOrder extends Omit<MarkdownInput, 'html'> {
  readonly bytes: Uint8Array;
  /** With its charset. */
  readonly type: string;
}

export interface TwinAnswer {
  readonly markdown: string;
  /** Search lists it neither. */
  readonly isLeftOut: boolean;
}

const handlers = {
  markdown: ({ bytes, type, ...page }: TwinOrder): TwinAnswer => {
    const { markdown, isLeftOut } = markdownOf({ ...page, html: pageText(bytes, type) });
    return { markdown, isLeftOut };
  },
  list: async (order: HeadsOrder): Promise<ListAnswer> => {
    const site = await readHeads(order);
    return { text: llmsText(site), order: orderPages(site).flatMap(({ pages }) => pages.map(({ path }) => path)) };
  },
};
export type TwinCalls = typeof handlers;

serve(handlers);

import { prefersType } from '../../web/media-type.ts';

const MARKDOWN = 'text/markdown';

/** True for a field that may prefer Markdown: nearly none does. */
export const namesMarkdown = (accept: string | undefined): boolean =>
  accept !== undefined && /text\/markdown/i.test(accept);

/** Assistants name both and mean this one, and browsers never name it. */
export const prefersMarkdown = (accept: string | undefined): boolean =>
  accept !== undefined && namesMarkdown(accept) && prefersType(accept, MARKDOWN, 'text/html');

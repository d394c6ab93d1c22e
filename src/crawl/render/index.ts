/**
 * Rendering: what a page is once its scripts are done. The browser is behind the port `PageRenderer`, and all that it asks
 * for is answered by the crawl; what is here decides what of a rendered page is written, and what is told of it.
 */
export { type ChosenHtml, chooseHtml } from './choose-html.ts';
export { findingsOf } from './findings-of.ts';
export { type LivePage, livePageOf } from './live-page.ts';

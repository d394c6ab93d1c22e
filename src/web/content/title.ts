import type { PageFacts } from './page-facts.ts';

/** Separators of a page's title and the site's name. A hyphen may be part of the title: `Tutorial - Basics`. */
const SEPARATOR = / (?:\||–|—|·|»|::) /g;
const SEPARATOR_OR_HYPHEN = / (?:\||–|—|·|»|::|-) /g;

/** UTF-16 code units. */
export const TITLE_LENGTH_MAX = 300;

/** The content's first `h1`; else `og:title` or `<title>` without the site's name; else any heading. */
export function pageTitle(facts: PageFacts, mainHeading: string, firstHeading: string): string {
  const written = facts.socialTitle || facts.documentTitle;
  const title = mainHeading || withoutSiteName(written, facts.siteName, firstHeading) || firstHeading;
  return title.slice(0, TITLE_LENGTH_MAX).toWellFormed();
}

export function otherTitle(facts: PageFacts, title: string, firstHeading: string): string | null {
  const other = withoutSiteName(facts.documentTitle, facts.siteName, firstHeading);
  return other === '' || other === title ? null : other.slice(0, TITLE_LENGTH_MAX).toWellFormed();
}

function withoutSiteName(written: string, siteName: string, firstHeading: string): string {
  if (written.split(SEPARATOR_OR_HYPHEN).includes(firstHeading)) return firstHeading;
  const separators = [...written.matchAll(siteName === '' ? SEPARATOR : SEPARATOR_OR_HYPHEN)];
  const first = separators[0];
  const last = separators.at(-1);
  if (first === undefined || last === undefined) return written;
  if (siteName === '' || written.slice(last.index + last[0].length) === siteName) return written.slice(0, last.index);
  return written.slice(0, first.index) === siteName ? written.slice(first.index + first[0].length) : written;
}

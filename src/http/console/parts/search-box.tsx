import { searchRequestSchema } from '../../../domain/search.ts';
import { siteAddress } from '../addresses.ts';
import type { ConsoleVisit } from '../visit.ts';

interface SearchBoxProps {
  readonly visit: ConsoleVisit;
  readonly domain: string;
  /** As it was asked for. */
  readonly query?: string;
}

/** Asks a page of its own, by its address. */
export function SearchBox({ visit, domain, query = '' }: SearchBoxProps) {
  const { maxLength } = searchRequestSchema.properties.query;
  return (
    <search>
      <form action={`${visit.root}${siteAddress(domain)}/search`} class="search">
        <label for="q">Search {domain}, with the reasons of each score</label>
        <input id="q" type="search" name="q" value={query} required maxlength={maxLength} autocomplete="off" />
        <button type="submit">Search</button>
      </form>
    </search>
  );
}

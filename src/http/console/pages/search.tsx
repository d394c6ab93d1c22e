import { DocshelfError } from '../../../domain/errors.ts';
import { type ScoreReasons, type SearchResult, searchRequestSchema } from '../../../domain/search.ts';
import { Up } from '../elements.tsx';
import { showPage } from '../layout.tsx';
import {
  type ConsoleRoute,
  type ConsoleVisit,
  parameterOf,
  signInAddress,
  siteAddress,
  type VisitProps,
} from '../visit.ts';

export const searchRoutes: readonly ConsoleRoute[] = [
  { method: 'GET', path: '/sites/:domain/search', run: showSearch },
];

/** Shows results only if the operator is signed in, because a site can require a sign-in for the text in results. */
async function showSearch(visit: ConsoleVisit): Promise<Response> {
  const { c, root, parts, session } = visit;
  const domain = parameterOf(visit, 'domain');
  const site = parts.observe(domain);
  const query = queryOf(c.req.query('q') ?? '');
  const results = session === null || query === '' ? null : await site.search(query);
  const title = `Search of ${domain}`;
  const content = (
    <>
      <Up to={root + siteAddress(domain)} name={domain} />
      <h1>{title}</h1>
      {session === null ? (
        <p class="card empty">
          <a href={root + signInAddress(visit)}>Sign in</a> to search.
        </p>
      ) : (
        <SearchBox visit={visit} domain={domain} query={query} />
      )}
      {results && <Results results={results} address={site.address} />}
    </>
  );
  return showPage(visit, { title, isStill: true, content });
}

function queryOf(written: string): string {
  const query = written.toWellFormed().trim();
  const { maxLength } = searchRequestSchema.properties.query;
  if ([...query].length <= maxLength) return query;
  throw new DocshelfError('bad_request', `Cannot search: the query is longer than ${maxLength} characters`, {
    next: 'Shorten the query.',
    fields: { field: 'q' },
  });
}

function Results({ results, address }: { readonly results: readonly SearchResult[]; readonly address: string }) {
  if (results.length === 0) return <p class="card empty">No results.</p>;
  return (
    <>
      <p class="soft">
        Results of the local search in the active version. The sum of the values Words, Meaning and Place decides the
        order. The score maps this sum to a value from 0 to 1.
      </p>
      <ol class="results">
        {results.map((result) => (
          <Result result={result} address={address} />
        ))}
      </ol>
    </>
  );
}

function Result({ result, address }: { readonly result: SearchResult; readonly address: string }) {
  const { path, metadata, reasons } = result;
  const { title, headings, score } = metadata;
  return (
    <li class="card">
      <h2>
        <a href={address + path.replace(/^\//, '')}>{headings.at(-1) ?? title}</a>
      </h2>
      <p class="soft">{[...new Set([title, ...headings.slice(0, -1)])].join(' › ')}</p>
      <p>
        <Marked result={result} />
      </p>
      <dl class="facts">
        <Reason name="Score" value={inDigits(score)} />
        {reasons && <Reasons reasons={reasons} />}
      </dl>
    </li>
  );
}

const EXACT: Readonly<Record<NonNullable<ScoreReasons['exact']>, string>> = {
  title: 'the query is the title of the page',
  identifier: 'the query is an identifier in the section',
};

function Reasons({ reasons }: { readonly reasons: ScoreReasons }) {
  const { words, meaning, lift, exact, places, prior } = reasons;
  return (
    <>
      <Reason
        name="Words"
        value={inDigits(words)}
        note={places.length === 0 ? 'none' : `in the ${places.join(', ')}`}
      />
      <Reason
        name="Meaning"
        value={meaning === null ? '–' : inDigits(meaning)}
        note={meaning === null ? 'not computed' : 'semantic similarity'}
      />
      <Reason
        name="Place"
        value={inDigits(lift)}
        note={exact === null ? 'no exact match of title or identifier' : EXACT[exact]}
      />
      <Reason
        name="Page"
        value={inDigits(prior)}
        note="importance of the page from 0 to 1, for results with equal words"
      />
    </>
  );
}

function Reason({ name, value, note }: { readonly name: string; readonly value: string; readonly note?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value} {note && <small>{note}</small>}
      </dd>
    </div>
  );
}

function Marked({ result: { content, metadata } }: { readonly result: SearchResult }) {
  const { highlights } = metadata;
  return (
    <>
      {highlights.map(({ start, end }, at) => (
        <>
          {content.slice(highlights[at - 1]?.end ?? 0, start)}
          <mark>{content.slice(start, end)}</mark>
        </>
      ))}
      {content.slice(highlights.at(-1)?.end ?? 0)}
    </>
  );
}

function inDigits(value: number): string {
  return value.toFixed(2);
}

interface SearchBoxProps extends VisitProps {
  readonly domain: string;
  readonly query?: string;
}

export function SearchBox({ visit, domain, query = '' }: SearchBoxProps) {
  const { maxLength } = searchRequestSchema.properties.query;
  return (
    <search>
      <form action={`${visit.root}${siteAddress(domain)}/search`} class="search">
        <label for="q">Search {domain} and explain each score</label>
        <input id="q" type="search" name="q" value={query} required maxlength={maxLength} autocomplete="off" />
        <button type="submit">Search</button>
      </form>
    </search>
  );
}

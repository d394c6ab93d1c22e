import type { SearchResult } from '../ports.ts';

/**
 * What a hosted search answers, in our form; null where it is no list of results.
 *
 * Of a result the published contract fixes `content`, `path` and the score that the order is by: without those it is none.
 * All else in `metadata` is as each service has it, and what is missing or of another form is left empty.
 *
 * @param resultsMax of more than were asked for, the best are kept
 */
export function parseHostedResults(text: string, resultsMax: number): readonly SearchResult[] | null {
  const answer = parseJson(text);
  if (!Array.isArray(answer)) return null;
  const results = answer.map(resultOf);
  if (results.includes(null)) return null;
  return (results as SearchResult[]).toSorted((a, b) => b.metadata.score - a.metadata.score).slice(0, resultsMax);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function resultOf(written: unknown): SearchResult | null {
  if (!isMap(written) || !isMap(written.metadata)) return null;
  const { content, path, metadata } = written;
  const { score } = metadata;
  if (typeof content !== 'string' || typeof path !== 'string') return null;
  if (typeof score !== 'number' || !(score >= 0 && score <= 1)) return null;
  return {
    content,
    path,
    metadata: {
      score,
      title: textOrNull(metadata.title) ?? '',
      headings: textsOf(metadata.headings),
      version: textOrNull(metadata.version),
      language: textOrNull(metadata.language),
      tags: textsOf(metadata.tags),
      highlights: highlightsOf(metadata.highlights, content.length),
    },
  };
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function highlightsOf(value: unknown, contentLength: number): SearchResult['metadata']['highlights'] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((place: unknown) => {
    if (!isMap(place)) return [];
    const { start, end } = place;
    if (!Number.isInteger(start) || !Number.isInteger(end)) return [];
    const [from, to] = [start as number, end as number];
    return from >= 0 && from < to && to <= contentLength ? [{ start: from, end: to }] : [];
  });
}

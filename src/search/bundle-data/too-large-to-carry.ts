import { DocshelfError } from '../../domain/errors.ts';

/** Of a site that has more than a bundle's search data may hold (docs/search-format.md). */
export function tooLargeToCarry(state: string): DocshelfError {
  return new DocshelfError('bad_search_data', `Cannot make the search data of this site: ${state}`, {
    next: 'The deployment indexes the pages instead.',
  });
}

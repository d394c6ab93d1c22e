import { element } from './element.js';
import { passageElement } from './passage.js';
import { addressOf } from './target.js';

/** Returns a language tag (BCP 47) that is valid as a `lang` attribute, or undefined. */
const langOf = (tag) => (/^[a-z]{2,3}(-[a-z0-9]{1,8})*$/i.test(tag ?? '') ? tag : undefined);

/** Builds the heading of a page. It names the version only if the results are from several versions. */
function pageHeading(id, { metadata, path, site }, { manyVersions }) {
  const facts = [site?.title ?? site?.domain, manyVersions ? metadata.version : null].filter(Boolean);
  const title = element('span', { dir: 'auto', lang: langOf(metadata.language) }, metadata.title || path);
  return element(
    'div',
    { class: 'page', id },
    title,
    ...facts.map((fact) => element('span', { class: 'fact', dir: 'auto' }, fact)),
  );
}

function sectionOption(id, result) {
  const { content, metadata } = result;
  const headings = metadata.headings.filter((heading) => heading !== metadata.title);
  const place = headings.length === 0 ? [] : [element('span', { class: 'place', dir: 'auto' }, headings.join(' › '))];
  const lang = langOf(metadata.language);
  return element(
    'a',
    { role: 'option', id, href: addressOf(result), tabindex: '-1', 'aria-selected': 'false', lang },
    ...place,
    passageElement(content, metadata),
  );
}

/** Builds the list of results. @returns {{nodes: Node[], options: HTMLElement[]}} groups, and their options in order */
export function resultRows(groups, naming) {
  const options = [];
  const nodes = groups.map(({ results }, at) => {
    const heading = pageHeading(`page-${at}`, results[0], naming);
    const own = results.map((result, place) => sectionOption(`option-${at}-${place}`, result));
    options.push(...own);
    return element('div', { role: 'group', 'aria-labelledby': heading.id }, heading, ...own);
  });
  return { nodes, options };
}

export function recentRows(queries) {
  return queries.map((query, at) =>
    element(
      'div',
      { role: 'option', id: `recent-${at}`, class: 'query', dir: 'auto', 'aria-selected': 'false' },
      query,
    ),
  );
}

import { OWN_FOLDER } from '../../domain/release.ts';

/** Files of an index, in the `search` folder of its release. */
export const KEYWORD_FILE = 'keyword.sqlite';
export const VECTOR_FILE = 'vectors.bin';
/** Lock of the process that embeds the release: replicas may share the folder. */
export const VECTOR_LOCK = 'vectors.lock';
/** Paths of pages that are not in the index, as JSON. Absent if all pages are. */
export const LEFT_OUT_FILE = 'left-out.json';
/** Why the vectors of the bundle are not used, as JSON. Absent if they are usable, or there are none. */
export const REFUSED_FILE = 'refused.json';
/** Folder of search data, in a bundle and in a release. */
export const SEARCH_FOLDER = `${OWN_FOLDER}search/`;

/** Files of an index, in the `search` folder of its release. In that of a next version `basePathOf` of this one is there, too. */
export const KEYWORD_FILE = 'keyword.sqlite';
export const VECTOR_FILE = 'vectors.bin';
/** Held by the one process that embeds the release: replicas may share the folder. */
export const VECTOR_LOCK = 'vectors.lock';
/** Paths of pages that the index does not have, as JSON; not there where it has all. */
export const LEFT_OUT_FILE = 'left-out.json';
/** What was read of the pages, for the next version. */
export const PAGES_FILE = 'pages.bin';

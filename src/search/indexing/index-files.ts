import { OWN_FOLDER } from '../../domain/release.ts';

export const KEYWORD_FILE = 'keyword.sqlite';
export const VECTOR_FILE = 'vectors.bin';
/** File that a replica locks while it computes vectors, so that replicas with the same folder do not compute them twice. */
export const VECTOR_LOCK = 'vectors.lock';
export const LEFT_OUT_FILE = 'left-out.json';
/** JSON file with the error that prevents the use of the bundle's vectors. Missing if there is no error. */
export const REFUSED_FILE = 'refused.json';
export const SEARCH_FOLDER = `${OWN_FOLDER}search/`;

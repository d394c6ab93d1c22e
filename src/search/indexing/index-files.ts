import { OWN_FOLDER } from '../../domain/release.ts';

export const KEYWORD_FILE = 'keyword.sqlite';
export const VECTOR_FILE = 'vectors.bin';
/** Replicas that share the folder lock this file to compute vectors. */
export const VECTOR_LOCK = 'vectors.lock';
export const LEFT_OUT_FILE = 'left-out.json';
/** Error, in JSON, if the vectors of the bundle are unusable. The file is missing if there is no error. */
export const REFUSED_FILE = 'refused.json';
export const SEARCH_FOLDER = `${OWN_FOLDER}search/`;

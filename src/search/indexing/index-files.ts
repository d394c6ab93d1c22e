import { OWN_FOLDER } from '../../domain/release.ts';

export const KEYWORD_FILE = 'keyword.sqlite';
export const VECTOR_FILE = 'vectors.bin';
/** Replicas that share the folder lock this file to compute vectors. */
export const VECTOR_LOCK = 'vectors.lock';
export const LEFT_OUT_FILE = 'left-out.json';
/** Contains an error, in JSON, if the vectors of the bundle are unusable. Otherwise, the file does not exist. */
export const REFUSED_FILE = 'refused.json';
export const SEARCH_FOLDER = `${OWN_FOLDER}search/`;

import { OWN_FOLDER } from '../../domain/release.ts';

export const KEYWORD_FILE = 'keyword.sqlite';
export const VECTOR_FILE = 'vectors.bin';
/** Locked while a process computes vectors, because replicas may share the folder. */
export const VECTOR_LOCK = 'vectors.lock';
export const LEFT_OUT_FILE = 'left-out.json';
/** Contains the error, in JSON, that explains why the bundle's vectors are unused. The file is missing if there is no error. */
export const REFUSED_FILE = 'refused.json';
export const SEARCH_FOLDER = `${OWN_FOLDER}search/`;

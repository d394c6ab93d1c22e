/** Files that are whole or not there, whatever happens while they are written, and what survives a power cut. */
export { digestFile } from './digest-file.ts';
export { flushPath, flushTree } from './flush.ts';
export { LineSpool } from './line-spool.ts';
export { listFiles } from './list-files.ts';
export { isAlive, isRunning, type Owner, parseOwner, startTicksOf, thisProcess } from './owner.ts';
export { readBytesIfThere, readIfThere } from './read-if-there.ts';
export { replaceFile, writeOnce } from './replace-file.ts';
export { sweepTemporaries } from './temporaries.ts';

export { LineSpool } from './line-spool.ts';
export { isAlive, isRunning, type Owner, parseOwner, startTicksOf, thisProcess } from './owner.ts';
export { collect, digestFile, hashFile, ifThere, listFiles, readBytesIfThere, readIfThere } from './read.ts';
export { flushPath, flushTree, replaceFile, sweepTemporaries, writeOnce } from './write.ts';

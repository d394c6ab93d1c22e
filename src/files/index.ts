export { findInTable, readFileTable, storedDigests, TABLE_FILE, writeFileTable } from './file-table.ts';
export { LineSpool } from './line-spool.ts';
export { ownVersions, VERSION_NAME } from './own-versions.ts';
export { isAlive, isLocal, isRunning, type Owner, parseOwner, startTicksOf, thisProcess } from './owner.ts';
export {
  ageOf,
  collect,
  digestFile,
  ifThere,
  isInside,
  listFiles,
  namesIn,
  openNamed,
  readBeginning,
  readBytesIfThere,
  readIfThere,
} from './read.ts';
export {
  flushPath,
  flushTree,
  isLinkRefused,
  openToAppend,
  refuseLink,
  replaceFile,
  sweepTemporaries,
  temporaryFolder,
  writeOnce,
} from './write.ts';

/** The sources of files that are built already. Each kind of source gives a site to a sink (`SiteSource` in ../ports.ts). */
export { FolderSource, type FolderSourceOptions } from './folder-source.ts';

/**
 * Both legs of search as one order and one score. Pure.
 *
 * query -> which sections the model votes on (`votes`) -> both legs' scores as one (`fuse`) -> 0 to 1 (`score`)
 */
export { fuse, type Legs, type Ranked } from './fuse.ts';
export { votesIn, votesOn } from './votes.ts';

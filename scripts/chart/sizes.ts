/** Resident memory of the daemon, measured on two cores with other load. The chart's requests and limits follow from it. */
export const MEASURED_SIZES = [
  { what: 'Nothing to do, the export API on', memory: '119 MiB' },
  { what: 'A site of 106 pages, search with meanings: the highest, while it was indexed', memory: '248 MiB' },
  { what: 'The same, serving', memory: '209 MiB' },
  { what: 'A site of 1,169 pages with 4,220 sections: the highest, while they were indexed', memory: '436 MiB' },
  { what: 'The same, serving while meanings were computed', memory: '280 MiB' },
  { what: 'A site of 1,170 pages after 100 swaps under load', memory: '467 MiB' },
  { what: 'An export of 1,169 pages, search data without meanings: the highest', memory: '382 MiB' },
  { what: 'An export of 106 pages, with meanings: the highest', memory: '299 MiB' },
];

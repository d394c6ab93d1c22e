import type { SiteFindings } from '../../admin/observed-site.ts';
import { Table } from './tables.tsx';
import { countInWords } from './wording.ts';

/** What becomes of what pages ask for elsewhere. */
const POLICIES: Readonly<Record<SiteFindings['policy'], { readonly note: string; readonly empty: string }>> = {
  on: {
    note: 'blocked by features.enforce; anybody can send such reports, so check the pages with docshelf bundle audit',
    empty: 'No browser has reported that a page asks another origin for anything.',
  },
  report: {
    note: 'reported by features.enforce, not blocked; anybody can send such reports, so check the pages with docshelf bundle audit',
    empty: 'No browser has reported that a page asks another origin for anything.',
  },
  off: {
    note: 'not reported, since features.enforce is off',
    empty: 'Set features.enforce to report to collect browser reports. To check an archive, run docshelf bundle audit.',
  },
};

/** What its pages ask other origins for, and what its own rules say in vain. */
export function Findings({ findings }: { readonly findings: SiteFindings }) {
  const { policy, origins, ruleFaults, ruleFaultCount } = findings;
  const left = ruleFaultCount - ruleFaults.length;
  return (
    <>
      <Table
        id="origins"
        title="Requests to other origins"
        note={POLICIES[policy].note}
        columns={['Origin', 'Reports']}
        numbers={['Reports']}
        empty={POLICIES[policy].empty}
        rows={origins.map(({ origin, reports }) => (
          <tr>
            <th scope="row">{origin}</th>
            <td data-column="Reports" class="number">
              {countInWords(reports)}
            </td>
          </tr>
        ))}
      />
      {ruleFaultCount > 0 && (
        <Table
          id="rules"
          title="Invalid rules"
          note={`in the bundle; docshelf ignores them or applies them only in part${left > 0 ? `; ${countInWords(left)} more are not shown` : ''}`}
          columns={['File', 'Line', 'Why']}
          numbers={['Line']}
          empty=""
          rows={ruleFaults.map(({ file, line, reason }) => (
            <tr>
              <th scope="row">
                <code>{file}</code>
              </th>
              <td data-column="Line" class="number">
                {line ?? 'all'}
              </td>
              <td data-column="Why">{reason}</td>
            </tr>
          ))}
        />
      )}
    </>
  );
}

import { keysAddress } from '../addresses.ts';
import { showPage } from '../layout.tsx';
import { Table } from '../parts/tables.tsx';
import type { ConsoleRoute, ConsoleVisit } from '../visit.ts';

export const organizationRoutes: readonly ConsoleRoute[] = [
  { method: 'GET', path: '/organizations', run: showOrganizations },
];

function showOrganizations(visit: ConsoleVisit): Promise<Response> {
  const { organizations } = visit.parts.service();
  const content = (
    <>
      <div class="heading">
        <h1>Organizations</h1>
      </div>
      <Table
        id="organizations"
        title="Who owns which domains"
        note="as the config says"
        columns={['Organization', 'Plan', 'Domains', 'Keys']}
        empty="The config has none."
        rows={organizations.map(({ id, plan, sites }) => (
          <tr id={`organization-${id}`}>
            <th scope="row">{id}</th>
            <td data-column="Plan">{plan}</td>
            <td data-column="Domains">
              {sites.length === 0 ? <span class="soft">none</span> : sites.map(({ domain }) => domain).join(', ')}
            </td>
            <td data-column="Keys">
              <a href={visit.root + keysAddress(id)}>API keys of {id}</a>
            </td>
          </tr>
        ))}
      />
    </>
  );
  return showPage(visit, { title: 'Organizations', page: 'organizations', content });
}

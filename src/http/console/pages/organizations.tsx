import { DocshelfError } from '../../../domain/errors.ts';
import type { Organization } from '../../../domain/organization.ts';
import type { CreatedKey, ListedKey } from '../../keys/key-schemas.ts';
import { Chip, Name, type RowOfCells, Table, Time, TimeAgo, Up } from '../elements.tsx';
import { ActionForm, callForPage } from '../forms.tsx';
import { showPage } from '../layout.tsx';
import {
  backTo,
  type ConsoleRoute,
  type ConsoleVisit,
  call,
  fieldOf,
  keysAddress,
  parameterOf,
  type SignedVisit,
  type VisitProps,
} from '../visit.ts';

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
        title="Domains of each organization"
        note="from the config"
        columns={['Organization', 'Plan', 'Domains', 'Keys']}
        empty="The config has no organizations."
        rows={organizations.map(({ id, plan, sites }) => ({
          id: `organization-${id}`,
          cells: [
            id,
            plan,
            sites.length === 0 ? <span class="soft">none</span> : sites.map(({ domain }) => domain).join(', '),
            <a href={visit.root + keysAddress(id)}>API keys of {id}</a>,
          ],
        }))}
      />
    </>
  );
  return showPage(visit, { title: 'Organizations', page: 'organizations', content });
}

export const keyRoutes: readonly ConsoleRoute[] = [
  { method: 'GET', path: '/organizations/:id/keys', run: showKeys },
  { method: 'POST', path: '/organizations/:id/keys', act: createKey },
  { method: 'GET', path: '/organizations/:id/keys/made', run: showCreatedKey },
  { method: 'POST', path: '/organizations/:id/keys/revoke', act: revokeKey },
];

async function showKeys(visit: ConsoleVisit): Promise<Response> {
  const { id } = organizationOf(visit);
  const called = await callForPage<{ readonly keys: readonly ListedKey[] }>(visit, 'listKeys', {
    query: { organization: id },
    hint: 'Sign in to see, create and revoke keys.',
    failed: 'The keys are not available',
  });
  const content = (
    <>
      <Up to={`${visit.root}organizations`} name="All organizations" />
      <div class="heading">
        <h1>API keys of {id}</h1>
      </div>
      {called.value === null ? called.instead : <Keys visit={visit} id={id} keys={called.value.keys} />}
    </>
  );
  return showPage(visit, { title: `API keys of ${id}`, page: 'organizations', content });
}

function Keys({ visit, id, keys }: VisitProps & { readonly id: string; readonly keys: readonly ListedKey[] }) {
  const message = visit.session?.messages.find(visit.c.req.query('message'));
  return (
    <>
      <NewKeyForm visit={visit} id={id} typed={message?.fields ?? {}} />
      <Table
        id="keys"
        title="Keys"
        note="docshelf stores only their digests"
        columns={['Name', 'Type', 'Created', 'Expires', 'Last used', 'Actions']}
        empty="There are no keys yet."
        rows={keys.map((key) => keyRow(visit, id, key))}
      />
    </>
  );
}

interface NewKeyFormProps extends VisitProps {
  readonly id: string;
  readonly typed: Readonly<Record<string, string>>;
}

function NewKeyForm({ visit, id, typed }: NewKeyFormProps) {
  return (
    <ActionForm visit={visit} action={keysAddress(id)} class="card narrow">
      <h2>Create a key</h2>
      <label for="name">Name</label>
      <input id="name" name="name" required maxlength={128} value={typed.name} aria-describedby="name-help" />
      <p class="soft" id="name-help">
        Name that shows where the key is used.
      </p>
      <label for="type">Type</label>
      <select id="type" name="type">
        <option value="assistant">assistant: public, may search</option>
        <option value="admin" selected={typed.type === 'admin'}>
          admin: a secret, may export
        </option>
      </select>
      <label for="expires">Last day</label>
      <input id="expires" name="expires" type="date" value={typed.expires} aria-describedby="expires-help" />
      <p class="soft" id="expires-help">
        Last day on which the key is valid, in UTC. Leave empty for a key that does not expire.
      </p>
      <button type="submit" class="primary">
        Create key
      </button>
    </ActionForm>
  );
}

function keyRow(visit: ConsoleVisit, organizationId: string, key: ListedKey): RowOfCells {
  const { id, name, type, createdAt, expiresAt, expired, lastUsedAt, readOnly } = key;
  const cells = [
    <>
      {name}{' '}
      {!readOnly && (
        <small>
          <Name>{id}</Name>
        </small>
      )}
    </>,
    type,
    createdAt === null ? 'from the config' : <Time at={createdAt} />,
    <>
      {expiresAt === null ? 'never' : <Time at={expiresAt} />} {expired && <Chip tone="bad">expired</Chip>}
    </>,
    lastUsedAt === null ? <span class="soft">unknown</span> : <TimeAgo at={lastUsedAt} now={visit.now} />,
    readOnly ? (
      <span class="soft">remove it from the config</span>
    ) : (
      <details id={`revoke-${id}`}>
        <summary aria-label={`Revoke ${name}`}>Revoke</summary>
        <ActionForm visit={visit} action={`${keysAddress(organizationId)}/revoke`} stays fields={{ key: id, name }}>
          <button type="submit" class="danger">
            Revoke {name} permanently
          </button>
        </ActionForm>
      </details>
    ),
  ];
  return { id: `key-${readOnly ? 'config-' : ''}${id}`, cells };
}

async function createKey(visit: SignedVisit): Promise<Response> {
  const { id } = organizationOf(visit);
  const [name, type] = [fieldOf(visit, 'name'), fieldOf(visit, 'type')];
  const expires = visit.form.get('expires') ?? '';
  const expiresAt = expires === '' ? {} : { expiresAt: `${expires}T23:59:59Z` };
  const called = await call(visit, 'createKey', { body: { organization: id, type, name, ...expiresAt } });
  if (called.problem !== null) {
    const fields = { name, type, expires };
    return backTo(visit, keysAddress(id), { text: 'The key was not created', problem: called.problem, fields });
  }
  const made = visit.session.messages.put({ text: '', problem: null, made: called.value as CreatedKey });
  return visit.c.redirect(`${visit.root}${keysAddress(id)}/made?key=${made}`, 303);
}

/** Shows a created key once, because docshelf stores only its digest. */
function showCreatedKey(visit: ConsoleVisit): Promise<Response> {
  const organization = organizationOf(visit);
  const name = visit.c.req.query('key');
  const made = visit.session?.messages.take(name)?.made ?? null;
  const content = (
    <>
      <Up to={visit.root + keysAddress(organization.id)} name={`All keys of ${organization.id}`} />
      <div class="heading">
        <h1>{made === null ? 'The key was already shown' : `The key ${made.name}`}</h1>
      </div>
      {made === null ? (
        <p class="card empty">
          docshelf shows each key only once. If you lost the key, revoke it and create another one.
        </p>
      ) : (
        <CreatedKeyShown visit={visit} made={made} organization={organization} />
      )}
    </>
  );
  return showPage(visit, { title: 'New key', page: 'organizations', isStill: true, content });
}

async function revokeKey(visit: SignedVisit): Promise<Response> {
  const { id } = organizationOf(visit);
  const name = visit.form.get('name') ?? 'the key';
  const { problem } = await call(visit, 'revokeKey', { parameters: { id: fieldOf(visit, 'key') } });
  const text = problem === null ? `${name} was revoked` : `${name} was not revoked`;
  return backTo(visit, keysAddress(id), { text, problem });
}

function organizationOf(visit: ConsoleVisit): Organization {
  const id = parameterOf(visit, 'id');
  const found = visit.parts.service().organizations.find((each) => each.id === id);
  if (found !== undefined) return found;
  throw new DocshelfError('not_found', `Cannot show the keys of "${id.slice(0, 200)}": there is no such organization`, {
    next: 'The page /organizations lists the organizations of the config.',
  });
}

interface CreatedKeyProps extends VisitProps {
  readonly made: CreatedKey;
  readonly organization: Organization;
}

function CreatedKeyShown({ visit, made, organization }: CreatedKeyProps) {
  return (
    <>
      <section class="alert good">
        <h2>Copy the key now. docshelf shows it only once.</h2>
        <p>
          <code id="key">{made.key}</code>
        </p>
        <button type="button" data-copy="key" hidden>
          Copy key
        </button>
        <p>
          {made.type === 'admin'
            ? 'The key is a secret. Store it only on servers.'
            : 'The key is public. You can use it in the code of pages.'}
        </p>
      </section>
      <section class="card">
        <h2>{made.type === 'admin' ? 'Export with this key' : 'Search with this key'}</h2>
        <p>
          <code id="curl">{curlLine(visit, made, organization)}</code>
        </p>
        <button type="button" data-copy="curl" hidden>
          Copy command
        </button>
      </section>
      <p role="status" class="soft" id="copied"></p>
      <script type="module" src={visit.root + visit.assets.address('copy.js')}></script>
    </>
  );
}

function curlLine({ parts }: ConsoleVisit, { key, type }: CreatedKey, { sites }: Organization): string {
  const base = `${(parts.service().apiUrl ?? 'API_URL').replace(/\/+$/, '')}/v1`;
  const site = type === 'admin' ? sites.find(({ source }) => source !== null) : sites[0];
  const domain = site?.domain ?? 'DOMAIN';
  const [address, body] =
    type === 'admin'
      ? [`${base}/static-export/jobs`, { domain }]
      : [`${base}/search/${domain}`, { query: 'getting started', pageSize: 5 }];
  return `curl -s ${address} -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}

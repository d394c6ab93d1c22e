import { DocshelfError } from '../../../domain/errors.ts';
import type { Organization } from '../../../domain/organization.ts';
import type { CreatedKey, ListedKey } from '../../keys/key-schemas.ts';
import { keysAddress } from '../addresses.ts';
import { showPage } from '../layout.tsx';
import { ActionForm } from '../parts/action-form.tsx';
import { callForPage } from '../parts/call-for-page.tsx';
import { keyTrial } from '../parts/key-trial.ts';
import { MadeKeyShown } from '../parts/made-key.tsx';
import { Chip } from '../parts/state.tsx';
import { Name, Table } from '../parts/tables.tsx';
import { Time, TimeAgo } from '../parts/time.tsx';
import {
  backTo,
  type ConsoleRoute,
  type ConsoleVisit,
  call,
  fieldOf,
  parameterOf,
  type SignedVisit,
} from '../visit.ts';

export const keyRoutes: readonly ConsoleRoute[] = [
  { method: 'GET', path: '/organizations/:id/keys', run: showKeys },
  { method: 'POST', path: '/organizations/:id/keys', act: makeKey },
  { method: 'GET', path: '/organizations/:id/keys/made', run: showMade },
  { method: 'POST', path: '/organizations/:id/keys/revoke', act: revokeKey },
];

async function showKeys(visit: ConsoleVisit): Promise<Response> {
  const { id } = organizationOf(visit);
  const called = await callForPage<{ readonly keys: readonly ListedKey[] }>(visit, 'listKeys', {
    query: { organization: id },
    hint: 'Sign in to see the keys, to make and to revoke them.',
    failed: 'The keys cannot be shown',
  });
  const content = (
    <>
      <p class="up">
        <a href={`${visit.root}organizations`}>All organizations</a>
      </p>
      <div class="heading">
        <h1>API keys of {id}</h1>
      </div>
      {called.value === null ? called.instead : <Keys visit={visit} id={id} keys={called.value.keys} />}
    </>
  );
  return showPage(visit, { title: `API keys of ${id}`, page: 'organizations', content });
}

interface KeysProps {
  readonly visit: ConsoleVisit;
  readonly id: string;
  readonly keys: readonly ListedKey[];
}

function Keys({ visit, id, keys }: KeysProps) {
  const said = visit.session?.messages.find(visit.c.req.query('said'));
  return (
    <>
      <NewKeyForm visit={visit} id={id} typed={said?.fields ?? {}} />
      <Table
        id="keys"
        title="Keys"
        note="of each its digest alone is kept"
        columns={['Name', 'Type', 'Made', 'Expires', 'Last used', 'Actions']}
        empty="There is no key yet."
        rows={keys.map((key) => <KeyRow visit={visit} id={id} listed={key} />)}
      />
    </>
  );
}

interface NewKeyFormProps {
  readonly visit: ConsoleVisit;
  readonly id: string;
  /** Of a form that was refused. */
  readonly typed: Readonly<Record<string, string>>;
}

function NewKeyForm({ visit, id, typed }: NewKeyFormProps) {
  return (
    <ActionForm visit={visit} action={keysAddress(id)} class="card narrow">
      <h2>Make a key</h2>
      <label for="name">Name</label>
      <input id="name" name="name" required maxlength={128} value={typed.name} aria-describedby="name-help" />
      <p class="soft" id="name-help">
        For people: where it is used.
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
        Refused from the end of that day on, in UTC. Left out: it does not expire.
      </p>
      <button type="submit" class="primary">
        Make the key
      </button>
    </ActionForm>
  );
}

interface KeyRowProps {
  readonly visit: ConsoleVisit;
  readonly id: string;
  readonly listed: ListedKey;
}

function KeyRow({ visit, id, listed: key }: KeyRowProps) {
  return (
    <tr id={`key-${key.readOnly ? 'config-' : ''}${key.id}`}>
      <th scope="row">
        {key.name}{' '}
        {!key.readOnly && (
          <small>
            <Name>{key.id}</Name>
          </small>
        )}
      </th>
      <td data-column="Type">{key.type}</td>
      <td data-column="Made">{key.createdAt === null ? 'in the config' : <Time at={key.createdAt} />}</td>
      <td data-column="Expires">
        {key.expiresAt === null ? 'never' : <Time at={key.expiresAt} />}{' '}
        {key.expired && <Chip tone="bad">expired</Chip>}
      </td>
      <td data-column="Last used">
        {key.lastUsedAt === null ? (
          <span class="soft">not known</span>
        ) : (
          <TimeAgo at={key.lastUsedAt} now={visit.now} />
        )}
      </td>
      <td data-column="Actions" class="acts">
        {key.readOnly ? (
          <span class="soft">revoked in the config</span>
        ) : (
          <details id={`revoke-${key.id}`}>
            <summary aria-label={`Revoke ${key.name}`}>Revoke</summary>
            <ActionForm
              visit={visit}
              action={`${keysAddress(id)}/revoke`}
              stays
              fields={{ key: key.id, name: key.name }}
            >
              <button type="submit" class="danger">
                Revoke {key.name} for good
              </button>
            </ActionForm>
          </details>
        )}
      </td>
    </tr>
  );
}

async function makeKey(visit: SignedVisit): Promise<Response> {
  const { id } = organizationOf(visit);
  const [name, type] = [fieldOf(visit, 'name'), fieldOf(visit, 'type')];
  const expires = visit.form.get('expires') ?? '';
  const expiresAt = expires === '' ? {} : { expiresAt: `${expires}T23:59:59Z` };
  const called = await call(visit, 'createKey', { body: { organization: id, type, name, ...expiresAt } });
  if (called.problem !== null) {
    const fields = { name, type, expires };
    return backTo(visit, keysAddress(id), { text: 'The key was not made', problem: called.problem, fields });
  }
  const made = visit.session.messages.put({ text: '', problem: null, made: called.value as CreatedKey });
  return visit.c.redirect(`${visit.root}${keysAddress(id)}/made?key=${made}`, 303);
}

/** Once: the key is then nowhere any more but with who made it. */
async function showMade(visit: ConsoleVisit): Promise<Response> {
  const organization = organizationOf(visit);
  const name = visit.c.req.query('key');
  const kept = visit.session?.messages.find(name)?.made;
  const trial = kept && (await keyTrial(visit, organization, kept.type));
  // Last: it is nowhere else where the page cannot be made.
  const made = visit.session?.messages.take(name)?.made ?? null;
  const content = (
    <>
      <p class="up">
        <a href={visit.root + keysAddress(organization.id)}>All keys of {organization.id}</a>
      </p>
      <div class="heading">
        <h1>{made === null ? 'The key has been shown' : `The key ${made.name}`}</h1>
      </div>
      {made === null || trial === undefined ? (
        <p class="card empty">A key is shown once. Make another one, and revoke that which is lost.</p>
      ) : (
        <MadeKeyShown visit={visit} made={made} trial={trial} />
      )}
    </>
  );
  return showPage(visit, { title: 'A new key', page: 'organizations', isStill: true, content });
}

async function revokeKey(visit: SignedVisit): Promise<Response> {
  const { id } = organizationOf(visit);
  const name = visit.form.get('name') ?? 'the key';
  const { problem } = await call(visit, 'revokeKey', { parameters: { id: fieldOf(visit, 'key') } });
  const text = problem === null ? `${name} is revoked, and refused from now on` : `${name} was not revoked`;
  return backTo(visit, keysAddress(id), { text, problem });
}

/** @throws DocshelfError `not_found` */
function organizationOf(visit: ConsoleVisit): Organization {
  const id = parameterOf(visit, 'id');
  const found = visit.parts.service().organizations.find((each) => each.id === id);
  if (found !== undefined) return found;
  throw new DocshelfError('not_found', `Cannot show the keys of "${id.slice(0, 200)}": there is no such organization`, {
    next: 'The page /organizations lists those of the config.',
  });
}

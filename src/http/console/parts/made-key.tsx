import type { CreatedKey } from '../../keys/key-schemas.ts';
import type { ConsoleVisit } from '../visit.ts';

interface MadeKeyProps {
  readonly visit: ConsoleVisit;
  readonly made: CreatedKey;
  /** Of the organization; null where it has none. */
  readonly domain: string | null;
}

/** With the line that tries it. The button appears with its script. */
export function MadeKeyShown({ visit, made, domain }: MadeKeyProps) {
  const { apiUrl } = visit.parts.service();
  return (
    <>
      <section class="alert good">
        <h2>Copy it now: it is shown this once</h2>
        <p>
          <code id="key">{made.key}</code>
        </p>
        <button type="button" data-copy="key" hidden>
          Copy the key
        </button>
        <p>
          {made.type === 'admin'
            ? 'It is a secret: keep it where only servers read it.'
            : 'It is public: it may stand in the code of pages.'}
        </p>
      </section>
      {apiUrl !== null && domain !== null && (
        <section class="card">
          <h2>{made.type === 'admin' ? 'Export with it' : 'Search with it'}</h2>
          <p>
            <code id="curl">{curlLine(made, apiUrl, domain)}</code>
          </p>
          <button type="button" data-copy="curl" hidden>
            Copy the line
          </button>
        </section>
      )}
      <p role="status" class="soft" id="copied"></p>
      <script type="module" src={visit.root + visit.assets.address('copy.js')}></script>
    </>
  );
}

function curlLine({ type, key }: CreatedKey, apiUrl: string, domain: string): string {
  const [path, body] =
    type === 'admin'
      ? ['static-export/jobs', { domain }]
      : [`search/${domain}`, { query: 'getting started', pageSize: 5 }];
  const address = `${apiUrl.replace(/\/+$/, '')}/v1/${path}`;
  return `curl -s ${address} -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}

import type { CreatedKey } from '../../keys/key-schemas.ts';
import type { ConsoleVisit } from '../visit.ts';
import type { KeyTrial } from './key-trial.ts';

interface MadeKeyProps {
  readonly visit: ConsoleVisit;
  readonly made: CreatedKey;
  readonly trial: KeyTrial;
}

/** With the line that tries it. The button appears with its script. */
export function MadeKeyShown({ visit, made, trial }: MadeKeyProps) {
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
      <section class="card">
        <h2>{made.type === 'admin' ? 'Export with it' : 'Search with it'}</h2>
        {trial.missing === null ? (
          <>
            <p>
              <code id="curl">{curlLine(made.key, trial)}</code>
            </p>
            <button type="button" data-copy="curl" hidden>
              Copy the line
            </button>
          </>
        ) : (
          <p>{trial.missing}</p>
        )}
      </section>
      <p role="status" class="soft" id="copied"></p>
      <script type="module" src={visit.root + visit.assets.address('copy.js')}></script>
    </>
  );
}

function curlLine(key: string, { address, body }: Extract<KeyTrial, { missing: null }>): string {
  return `curl -s ${address} -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}

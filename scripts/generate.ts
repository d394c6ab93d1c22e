/**
 * Writes generated files: from the config's schema `config.schema.json` (for editors, and next to the code that checks with it)
 * and `docs/config.md`. For the chart, the schema of its values, its README and its list of credentials. The console's page of
 * `docs/errors.md`. Run it after a change in `src/config/schema/`, `docs/errors.md`, `helm/values.yaml`, `helm/examples/` or
 * `scripts/chart/`: sh scripts/run.sh node scripts/generate.ts
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { schemaSource } from '../src/config/schema/index.ts';
import { manualPage } from './manual-page.ts';

const root = new URL('../', import.meta.url);
const schema = `${JSON.stringify(schemaSource, null, 2)}\n`;
writeFileSync(new URL('src/config/config.schema.json', root), schema);
writeFileSync(new URL('config.schema.json', root), schema);

// Import these modules last, because they read the file that was just written.
const { configReference } = await import('./config-reference.ts');
writeFileSync(new URL('docs/config.md', root), configReference());

const { chartFiles } = await import('./chart/index.ts');
const helm = new URL('helm/', root);
for (const [name, text] of Object.entries(chartFiles(helm))) writeFileSync(new URL(name, helm), text);

const errors = readFileSync(new URL('docs/errors.md', root), 'utf8');
writeFileSync(new URL('src/http/console/assets/errors.html', root), manualPage('docs/errors.md', errors));

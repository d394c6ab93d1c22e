import { globSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isNeeded, NEEDED_OUTSIDE } from './outside.ts';

// The built program contains the other packages that it uses, with their licenses.
mkdirSync('needed');
for (const name of NEEDED_OUTSIDE) renameSync(join('node_modules', name), join('needed', name));
rmSync('node_modules', { recursive: true });
renameSync('needed', 'node_modules');

for (const entry of globSync('**/*', { cwd: 'node_modules', withFileTypes: true })) {
  const file = join(entry.parentPath, entry.name);
  const path = file.slice(file.indexOf('node_modules/') + 'node_modules/'.length);
  if (!entry.isDirectory() && !isNeeded(path, [`${process.platform}/${process.arch}`])) rmSync(file);
}

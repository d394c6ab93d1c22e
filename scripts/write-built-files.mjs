/** Writes the man page and the parts list next to the built program. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createProgram } from '../src/cli/index.ts';
import { manPage } from './man-page.ts';
import { createSbom } from './sbom.mjs';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
mkdirSync('dist/man', { recursive: true });
writeFileSync('dist/man/docshelf.1', manPage(await createProgram(version), version));

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
writeFileSync('dist/sbom.json', `${JSON.stringify(createSbom(lock), null, 2)}\n`);

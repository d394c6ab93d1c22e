import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { newFolder } from '../helpers/new-folder.ts';
import { fetchHelm, type Manifest, siteOf, templateWith } from './chart.ts';

const dir = newFolder();

beforeAll(fetchHelm, 120_000);

it('link-bundles links files of several images into one folder, even with equal names or after a restart of the node', () => {
  const { spec } = siteOf(templateWith('bundles.imageVolumes[0].reference=a', 'bundles.imageVolumes[1].reference=b'))
    .spec.template;
  const [command, ...args] = spec.initContainers.find(({ name }: Manifest) => name === 'link-bundles').command;
  mkdirSync(join(dir, 'bundles'));
  for (const image of ['0', '1']) {
    mkdirSync(join(dir, 'bundle-images', image), { recursive: true });
    writeFileSync(join(dir, 'bundle-images', image, 'acme-export-2026-11-01.tar.gz'), image);
  }
  const here = args.map((text: string) => text.replace(/\/bundle(?:s|-images)(?=[/'])/g, (path) => join(dir, path)));
  for (let start = 0; start < 2; start += 1) execFileSync(command, here);
  const names = readdirSync(join(dir, 'bundles')).sort();
  expect(names).toEqual(['0-acme-export-2026-11-01.tar.gz', '1-acme-export-2026-11-01.tar.gz']);
  expect(names.map((name) => readFileSync(join(dir, 'bundles', name), 'utf8'))).toEqual(['0', '1']);
});

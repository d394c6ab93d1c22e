import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runningDaemons } from '../../src/deploy/index.ts';
import { copyOf, importOf, openDaemon, packBundle, seedShelf, stagingOf } from './workbench.ts';

const seed = await seedShelf();
const june = await packBundle('acme-export-2024-06-01.tar.gz', '2024-06-01');

const [OLD, NEW] = ['2024-01-01', '2024-06-01'] as const;

describe('a daemon that was killed during an import or a swap', () => {
  test.for<[when: string, served: string]>([
    ['during unpacking', OLD],
    ['before the release is sealed', OLD],
    ['before the release is in its folder', OLD],
    ['before the version label is written', OLD],
    ['after the version label is written', OLD],
    ['before the active pointer is written', OLD],
    ['after the active pointer is written', NEW],
    ['during the swap', NEW],
    ['before an old version label is removed', NEW],
    ['before an old release is removed', NEW],
  ])('serves a complete version and can import after a restart (killed %s, serves %s)', async ([when, served]) => {
    const store = await copyOf(seed);
    const before = await openDaemon(store, { keep: 9 });
    await before.deployment.activate(OLD);
    await before.stop();

    const program = join(import.meta.dirname, 'crashing-daemon.ts');
    const child = spawn(process.execPath, [program, store.paths.dir, june.file, when], { stdio: 'inherit' });
    const [exitCode, signal] = await once(child, 'exit');
    expect({ exitCode, signal }).toEqual({ exitCode: null, signal: 'SIGKILL' });

    expect(await runningDaemons(store.paths)).toEqual([]);
    const { deployment, site } = await openDaemon(store, { keep: 9 });
    expect(await stagingOf(store)).toEqual([]);
    await deployment.reconcile();
    const { active } = site;
    expect(active?.version).toBe(served);
    expect(await readFile(join(active?.siteDir ?? '', 'index.html'), 'utf8')).toContain(served);
    for (const [label, { digest }] of await store.labels()) await store.view(digest, label);
    expect(deployment.state).toBe('ready');

    await deployment.deliver(importOf(june));
    expect(site.active?.version).toBe(NEW);
  });
});

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fetchBundle } from '../../src/deploy/fetch/fetch.ts';
import { httpBundleSource } from '../../src/deploy/sources/http-bundle-source.ts';
import { Secret } from '../../src/domain/secret.ts';
import { bundleAnswer, httpServer } from '../helpers/local-server.ts';
import { smallDisk } from '../helpers/small-disk.ts';
import { httpClientOf } from '../net/http-client-of.ts';

const disk = smallDisk('1m');

test.skipIf(disk === null)(
  'fetchBundle() fails with cannot_write on a full disk and leaves no partial file (needs to mount a tmpfs)',
  async () => {
    const spoolDir = disk ?? '';
    const server = await httpServer(bundleAnswer(Buffer.alloc(3 * 1024 * 1024), '"v1"'));
    const link = new Secret(`${server.origin}/b.tar.gz`);
    const fetching = fetchBundle([httpBundleSource(httpClientOf())], {
      link,
      sha256: null,
      spoolDir,
      bundleFile: join(spoolDir, 'whole'),
      bundleBytesMax: 100 * 1024 * 1024,
      retriesMax: 3,
      signal: new AbortController().signal,
    });
    await expect(fetching).rejects.toMatchObject({ code: 'cannot_write' });
    expect(await readdir(spoolDir)).toEqual(['lock']);
    expect(server.requests.length).toBe(1);
  },
);

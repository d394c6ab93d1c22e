import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type CommandResult, openBench, type RunOptions } from '../helpers/daemon.ts';
import { answer, VENDOR_KEY, type VendorOptions, VendorService } from '../helpers/export-service.ts';
import { spawnProgram } from '../helpers/program.ts';
import { bundle, folderOf, sha256Of } from './bundles.ts';
import { Home, WAYS } from './home.ts';

const bench = openBench(afterEach);

const SITE = bundle('vendor');
const ARCHIVE = 'acme-export-2024-06-01.tar.gz';

const startVendor = (options: Partial<VendorOptions> = {}): Promise<VendorService> =>
  VendorService.start({ bundle: () => SITE, extras: true, polls: 1, ...options });

/** Runs `docshelf export …` against the vendor, with its key in the environment. */
function run(vendor: VendorService, args: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
  const env = { DOCSHELF_API_KEY: VENDOR_KEY, ...options.env };
  return bench.run(['export', ...args, '--api-url', vendor.url], { ...options, env });
}

const faultOf = (result: CommandResult) => ({ code: result.code, fault: result.json().code });

describe('the commands export start, status, wait and bundle', () => {
  test('create a bundle link in four steps, with output as JSON or text', async () => {
    const vendor = await startVendor();
    const options = ['--domain', 'acme', '--version', 'v3', '--paths', '/a', '/b', '--json'];
    const started = await run(vendor, ['start', ...options]);
    expect(started).toMatchObject({ code: 0, stderr: '' });
    expect(started.json()).toMatchObject({ domain: 'acme', version: 'v3', status: 'queued', progress: 0, error: null });
    expect(vendor.bodies).toEqual([{ domain: 'acme', version: 'v3', paths: ['/a', '/b'] }]);
    const { jobId } = started.json<{ jobId: string }>();

    const waited = await run(vendor, ['wait', jobId, '--json']);
    expect(waited).toMatchObject({ code: 0, stderr: '' });
    expect(waited.json()).toMatchObject({ jobId, status: 'completed', progress: 100 });
    expect((await run(vendor, ['status', jobId])).stdout).toMatch(/^status +completed$/m);

    const link = (await run(vendor, ['bundle', jobId, '--json'])).json<{ bundleUrl: string }>();
    expect(link).toMatchObject({ jobId, sizeBytes: SITE.length, sha256: sha256Of(SITE) });
    expect(await (await fetch(link.bundleUrl)).bytes()).toEqual(new Uint8Array(SITE));
    expect((await run(vendor, ['bundle', jobId])).stdout).toMatch(/^bundleUrl +http:.*canary/m);
  });

  test('exit with a code that matches the error', async () => {
    const vendor = await startVendor({ failure: 'the source folder is not there' });
    const failed = await run(vendor, ['wait', vendor.completed(), '--json']);
    expect(faultOf(failed)).toEqual({ code: 69, fault: 'job_failed' });
    expect(failed.json().error).toContain('the source folder is not there');
    expect(faultOf(await run(vendor, ['status', 'se_9', '--json']))).toEqual({ code: 69, fault: 'not_found' });
    const wrongKey = await run(vendor, ['status', 'se_9', '--json'], { env: { DOCSHELF_API_KEY: 'svc_wrong' } });
    expect(faultOf(wrongKey)).toEqual({ code: 77, fault: 'unauthorized' });
    const noKey = await run(vendor, ['status', 'se_9', '--json'], { env: { DOCSHELF_API_KEY: '' } });
    expect(faultOf(noKey)).toEqual({ code: 77, fault: 'unauthorized' });
    expect(faultOf(await run(vendor, ['start', '--json']))).toEqual({ code: 64, fault: 'usage' });
    expect((await run(vendor, ['wait'])).code).toBe(64);
    vendor.fault(/^GET/, (_, response) => answer(response, 200, { jobId: 'se_1', status: 'running' }), 100);
    const late = await run(vendor, ['wait', 'se_1', '--timeout', '1s', '--json']);
    expect(faultOf(late)).toEqual({ code: 69, fault: 'job_timeout' });
  });

  test('read the key from a file or the environment, and reject a key as an argument without printing this key', async () => {
    const vendor = await startVendor();
    const jobId = vendor.completed();
    const folder = await folderOf(await bench.folder(), { key: Buffer.from(`${VENDOR_KEY}\n`) });
    const env = { DOCSHELF_API_KEY: '' };
    expect((await run(vendor, ['status', jobId, '--key-file', 'key'], { cwd: folder, env })).code).toBe(0);
    const before = vendor.calls.length;
    for (const key of [['--key', VENDOR_KEY], [`--key=${VENDOR_KEY}`]]) {
      const refused = await run(vendor, ['status', jobId, ...key]);
      expect(refused.code).toBe(64);
      expect(refused.stderr).toContain('--key-file');
      expect(refused.stdout + refused.stderr).not.toContain('canary');
    }
    expect(vendor.calls).toHaveLength(before);
  });
});

describe.each([true, false])('export pull from a service (returns digests and Retry-After: %s)', (extras) => {
  test('exports, downloads and verifies a bundle, writes the values file, and does not print the link', async () => {
    const vendor = await startVendor({ extras });
    const cwd = await bench.folder();
    const text = '# ours\r\nstaticExport:\r\n    enabled: true   # on\r\n    version: old\r\nlog: {level: info}\r\n';
    await writeFile(join(cwd, 'values.yaml'), text, { mode: 0o640 });
    const args = ['pull', '--domain', 'acme', '--version', 'v3', '--write-values', 'values.yaml', '--json'];
    const pulled = await run(vendor, args, { cwd });
    expect(pulled.code).toBe(0);
    expect(pulled.json()).toEqual({
      jobId: 'se_0000000000000001',
      domain: 'acme',
      version: 'v3',
      sha256: sha256Of(SITE),
      sizeBytes: SITE.length,
      file: join(cwd, ARCHIVE),
      imported: null,
      values: 'values.yaml',
    });
    expect(pulled.stdout + pulled.stderr).not.toContain('canary');
    expect((await readdir(cwd)).sort()).toEqual([ARCHIVE, 'values.yaml']);
    expect(await readFile(join(cwd, ARCHIVE))).toEqual(SITE);
    const values = await readFile(join(cwd, 'values.yaml'), 'utf8');
    const link = /bundleUrl: "(.+)"/.exec(values)?.[1] ?? '';
    expect(values).toBe(
      `# ours\r\nstaticExport:\r\n    enabled: true   # on\r\n    version: "v3"\r\n    bundleUrl: "${link}"\r\n    sha256: "${sha256Of(SITE)}"\r\nlog: {level: info}\r\n`,
    );
    expect((await stat(join(cwd, 'values.yaml'))).mode & 0o777).toBe(0o640);
    expect((await fetch(link)).status).toBe(200);
  });

  test('writes values that make a daemon pin and serve the exported version', async () => {
    const vendor = await startVendor({ extras });
    const folder = await bench.folder();
    const configFile = await bench.writeConfig(folder, {});
    const args = ['pull', '--domain', 'acme', '--write-values', configFile, '--output', join(folder, 'a.tar.gz')];
    expect((await run(vendor, args)).code).toBe(0);
    const daemon = await bench.start(null, { folder });
    await daemon.untilServing('2024-06-01');
    expect((await daemon.status()).pinned).toBe('2024-06-01');
    expect(await (await fetch(`${daemon.site}/`)).text()).toContain('vendor');
  });
});

describe('export pull', () => {
  test('continues the job of an earlier, terminated export pull if --job-id names that job', async () => {
    const vendor = await startVendor({ polls: 1_000_000 });
    const cwd = await bench.folder();
    const env = { DOCSHELF_API_KEY: VENDOR_KEY };
    const child = spawnProgram(['export', 'pull', '--domain', 'acme', '--api-url', vendor.url], cwd, env);
    let output = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    await expect.poll(() => vendor.count(/^GET/)).toBeGreaterThan(0);
    child.kill('SIGTERM');
    expect(await ended).toBe(69);
    const jobId = /--job-id (se_\w+)/.exec(output)?.[1] ?? '';
    expect(await readdir(cwd)).toEqual([]);
    vendor.jobs.forEach((job) => {
      job.polls = 1_000_000;
    });
    const pulled = await run(vendor, ['pull', '--job-id', jobId, '--output', `${cwd}/`, '--json'], { cwd });
    expect(pulled.json()).toMatchObject({ jobId, file: join(cwd, ARCHIVE), version: '2024-06-01' });
    expect(vendor.jobs).toHaveLength(1);
  });

  test.each<[name: string, exit: number, fault: string, options: Partial<VendorOptions>, args: readonly string[]]>([
    ['a failed job', 69, 'job_failed', { failure: 'no pages' }, []],
    ['a file that is not an archive', 65, 'unknown_format', { bundle: () => Buffer.from('<html>Sign in</html>') }, []],
    ['a missing output folder', 73, 'cannot_write', {}, ['--output', 'none/x.tar.gz']],
    ['values that cannot be edited', 73, 'cannot_write', {}, ['--write-values', 'list.yaml']],
    ['an invalid version', 64, 'usage', {}, ['--version', '../v2']],
    ['--domain together with a job', 64, 'usage', {}, ['--job-id', 'se_1']],
  ])(
    'exits with an error for an invalid job, archive or option, and leaves no files behind: %s',
    async (_, exit, fault, options, args) => {
      const vendor = await startVendor(options);
      const cwd = await folderOf(await bench.folder(), { 'list.yaml': Buffer.from('- a\n') });
      const result = await run(vendor, ['pull', '--domain', 'acme', ...args, '--json'], { cwd });
      expect(faultOf(result)).toEqual({ code: exit, fault });
      expect(await readdir(cwd)).toEqual(['list.yaml']);
      // The command found the error before it contacted the service.
      if (args.length > 0) expect(vendor.jobs).toEqual([]);
    },
  );

  test('stores the signature of the service next to the bundle', async () => {
    const vendor = await startVendor();
    const cwd = await bench.folder();
    const link = `${vendor.url}/b.tar.gz`;
    const body = { jobId: 'se_1', bundleUrl: link, signature: 'untrusted comment: x\nRUQ…\n' };
    vendor.fault(/bundle$/, (_, response) => answer(response, 200, body));
    vendor.fault(/b\.tar\.gz/, (_, response) => response.writeHead(200, { 'content-length': SITE.length }).end(SITE));
    expect((await run(vendor, ['pull', '--domain', 'acme', '--output', 'here.tar.gz'], { cwd })).code).toBe(0);
    expect((await readdir(cwd)).sort()).toEqual(['here.tar.gz', 'here.tar.gz.minisig']);
    expect(await readFile(join(cwd, 'here.tar.gz.minisig'), 'utf8')).toBe(body.signature);
  });
});

describe.each(WAYS)('the command export pull --into, run %s,', (way) => {
  test('imports and activates the bundle, and leaves no file in the current folder', async () => {
    const vendor = await startVendor();
    const home = await Home.open(bench, way);
    const before = await readdir(home.folder);
    const config = ['--config', join(home.folder, 'config.yaml')];
    const pulled = await run(vendor, ['pull', '--domain', 'acme', '--version', 'v3', '--into', '--json', ...config], {
      cwd: home.folder,
    });
    expect(pulled.json()).toMatchObject({
      version: 'v3',
      file: null,
      imported: { version: 'v3', digest: sha256Of(SITE), activated: true },
    });
    expect(await home.shelf()).toEqual(['v3', ['v3']]);
    expect(await home.page()).toContain('vendor');
    expect((await readdir(home.folder)).filter((name) => name !== 'data' && !before.includes(name))).toEqual([]);
  });
});

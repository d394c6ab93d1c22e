import { execFile, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';

const LOG = new URL('../../../src/app/log/log.ts', import.meta.url).href;

const programOf = (script: string, format = 'json'): string => `import { openLogs } from '${LOG}';
  const { log, logRequest } = await openLogs({ level: 'info', format: '${format}' });
  ${script}`;

/** Runs the script in a process. @returns the lines that it writes until it ends */
async function linesOf(script: string): Promise<{ msg: string }[]> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', programOf(script)]);
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { msg: string });
}

/** Runs the script in a process with that standard output. @returns its exit code and error output */
async function runWith(
  { fd }: FileHandle,
  script: string,
  format = 'json',
): Promise<[code: number | null, errorOutput: string]> {
  const options = { stdio: ['ignore', fd, 'pipe'], timeout: 60_000 } satisfies SpawnOptions;
  const program = spawn(process.execPath, ['--input-type=module', '-e', programOf(script, format)], options);
  let errorOutput = '';
  program.stderr?.on('data', (data: Buffer) => {
    errorOutput += data.toString();
  });
  const [code] = await once(program, 'close');
  return [code, errorOutput];
}

/** Both ends of a named pipe that exists until the end of the test. */
async function openPipe(): Promise<{ readonly reader: FileHandle; readonly out: FileHandle }> {
  const folder = await mkdtemp(join(tmpdir(), 'docshelf-log-'));
  const fifo = join(folder, 'out');
  await promisify(execFile)('mkfifo', [fifo]);
  const [reader, out] = [await open(fifo, 'r+'), await open(fifo, 'w')];
  onTestFinished(async () => {
    await Promise.all([reader.close(), out.close()]);
    await rm(folder, { recursive: true });
  });
  return { reader, out };
}

const messagesOf = async (script: string): Promise<string[]> => (await linesOf(script)).map(({ msg }) => msg);

describe('openLogs()', () => {
  it('keeps the order of log lines and request lines', async () => {
    const written = await messagesOf(`
      for (let at = 0; at < 500; at++) {
        if (at % 7 === 0) log.info(String(at));
        else logRequest(() => '"msg":"' + at + '"');
      }`);
    expect(written).toEqual(Array.from({ length: 500 }, (_, at) => String(at)));
  });

  it('writes a request line even if no other line follows', async () => {
    const script = programOf(`logRequest(() => '"msg":"waits"'); setTimeout(() => undefined, 60_000);`);
    const program = spawn(process.execPath, ['--input-type=module', '-e', script]);
    const [chunk] = (await once(program.stdout, 'data')) as [Buffer];
    program.kill('SIGKILL');
    expect(JSON.parse(chunk.toString())).toMatchObject({ msg: 'waits' });
  });

  it('uses bounded memory if the output is not read', async () => {
    const script = programOf(`
      const line = 'x'.repeat(100_000);
      for (let at = 0; at < 1_000; at++) log.info(line);
      setTimeout(() => process.stderr.write(String(process.memoryUsage().rss)), 200);`);
    const program = spawn(process.execPath, ['--input-type=module', '-e', script]);
    program.stdout.pause();
    const [resident] = (await once(program.stderr, 'data')) as [Buffer];
    program.kill('SIGKILL');
    expect(Number(resident) / 1024 ** 2).toBeLessThan(150);
  });

  it('formats request lines like other log lines', async () => {
    const [of, other] = (await linesOf(`log.info('a'); logRequest(() => '"msg":"a"');`)).map((line) => ({
      ...line,
      time: 0,
    }));
    expect(of).toEqual(other);
    expect(await linesOf(`log.level = 'warn'; logRequest(() => '"msg":"a"');`)).toEqual([]);
  });

  it('uses bounded memory for request lines if the output is not read', async () => {
    const script = programOf(`
      const line = '"msg":"' + 'x'.repeat(1_000) + '"';
      for (let at = 0; at < 100_000; at++) {
        logRequest(() => line);
        if (at % 100 === 0) await new Promise(setImmediate);
      }
      process.stderr.write(String(process.memoryUsage().rss));`);
    const program = spawn(process.execPath, ['--input-type=module', '-e', script]);
    program.stdout.pause();
    const [resident] = (await once(program.stderr, 'data')) as [Buffer];
    program.kill('SIGKILL');
    expect(Number(resident) / 1024 ** 2).toBeLessThan(150);
  });

  it.each(['json', 'auto', 'pretty'])(
    'lets the process exit if its output pipe is full and not read (format %s)',
    async (format) => {
      // The test opens both ends of the pipe, but never reads. Writes of the program block, as in a pipe of a shell.
      const { out } = await openPipe();
      const script = `
      for (let at = 0; at < 50; at++) log.info('x'.repeat(10_000));
      setTimeout(() => process.exit(0), 200);`;
      expect(await runWith(out, script, format)).toEqual([0, '']);
    },
  );

  it('ends a flush, and lets the process end, if no program reads the full output pipe', async () => {
    const { out } = await openPipe();
    const script = `
      for (let at = 0; at < 50; at++) log.info(String(at).padEnd(10_000, ' '));
      log.flush(() => process.stderr.write('flushed'));`;
    expect(await runWith(out, script)).toEqual([0, 'flushed']);
  });

  it('loses lines, but lets the process run and exit normally, if the disk of the log file is full', async () => {
    const full = await open('/dev/full', 'w');
    onTestFinished(() => full.close());
    const script = `
      log.info('lost');
      setTimeout(() => {
        log.info('lost too');
        log.flush(() => process.stderr.write('flushed'));
      }, 300);`;
    expect(await runWith(full, script)).toEqual([0, 'flushed']);
  });

  it('combines lines that wait for a running write, so that 5,000 lines need fewer than 100 writes', async () => {
    const lines = await linesOf(`
      const { default: fs } = await import('node:fs');
      const { syncBuiltinESMExports } = await import('node:module');
      const { write } = fs;
      let writes = 0;
      fs.write = (...given) => {
        writes += 1;
        write(...given);
      };
      syncBuiltinESMExports();
      for (let at = 0; at < 5_000; at++) log.info(String(at));
      log.flush(() => log.info(String(writes)));`);
    const numbers = lines.map(({ msg }) => Number(msg));
    expect(numbers.slice(0, -1)).toEqual([...Array(5_000).keys()]);
    expect(numbers.at(-1)).toBeLessThan(100);
  });

  it('writes waiting lines once the output accepts bytes again', async () => {
    const { reader, out } = await openPipe();
    const script = programOf(`
      for (let at = 0; at < 50; at++) log.info(String(at).padEnd(10_000, ' '));`);
    const program = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', out.fd] });
    onTestFinished(() => void program.kill('SIGKILL'));
    const closed = once(program, 'close');
    await new Promise((resolve) => setTimeout(resolve, 300));
    let text = '';
    while (text.split('\n').length <= 50) {
      const { bytesRead, buffer } = await reader.read(Buffer.alloc(65_536));
      text += buffer.toString('utf8', 0, bytesRead);
    }
    await closed;
    const lines = text.split('\n').slice(0, -1);
    expect(lines.map((line) => Number((JSON.parse(line) as { msg: string }).msg))).toEqual([...Array(50).keys()]);
  });

  it('loses no line if the process exits', async () => {
    expect(await messagesOf(`logRequest(() => '"msg":"last"'); process.exit(0);`)).toEqual(['last']);
  });

  it.each(['json', 'pretty'])(
    'escapes terminal control characters in messages and fields in the format %s',
    async (format) => {
      const hostile = 'a\\u001b[2J\\u009b31m\\u202e\\u200b\\nINFO forged';
      const script = programOf(
        `
      log.info({ name: '${hostile}', error: new Error('${hostile}') }, '${hostile}');
      logRequest(() => '"msg":"a"');`,
        format,
      );
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
      expect(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202e]/.exec(stdout)).toBe(null);
      expect(stdout.split('\n').filter((line) => /^INFO|^forged/.test(line))).toEqual([]);
      if (format === 'json')
        expect(JSON.parse(stdout.split('\n')[0] ?? '').msg).toBe('a\u001b[2J\u009b31m\u202e\u200b\nINFO forged');
    },
  );
});

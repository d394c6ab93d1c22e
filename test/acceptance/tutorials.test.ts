import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';
import { freePorts } from '../helpers/free-ports.ts';

const bench = openBench(afterEach);
const ROOT = join(import.meta.dirname, '../..');
const SESSION_MS_MAX = 240_000;

interface Block {
  readonly kind: 'sh' | 'yaml' | 'text';
  readonly text: string;
}

/** The code blocks of a page, in their order. `text` is the output of the command before it. */
async function blocksOf(page: string): Promise<Block[]> {
  const text = await readFile(join(ROOT, 'docs', page), 'utf8');
  const fences = text.match(/^```\w/gm)?.length;
  const blocks = [...text.matchAll(/^```(sh|yaml|text)\n([\s\S]*?)^```$/gm)].map(
    ([, kind, block = '']): Block => ({ kind: kind as Block['kind'], text: block }),
  );
  // A fence with another language would not run.
  expect(blocks).toHaveLength(fences ?? 0);
  return blocks;
}

/** Follows a page as its reader does: one shell, in the checkout, with free ports. Returns the output of each block. */
async function follow(blocks: readonly Block[]): Promise<{ code: number | null; outputs: string[]; errors: string }> {
  const home = await bench.folder();
  const [site = 0, admin = 0, api = 0] = await freePorts(3);
  const here = (text: string): string =>
    text.replaceAll(':8080', `:${site}`).replaceAll(':9090', `:${admin}`).replaceAll(':8081', `:${api}`);
  const mark = '--- next block ---';
  const script = blocks.map(({ kind, text }) => {
    const step = { sh: here(text), yaml: `cat >> config.yaml <<'END'\n${here(text)}END\n`, text: '' }[kind];
    return `${step}\necho '${mark}'\n`;
  });
  const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', script.join('')], {
    cwd: ROOT,
    env: {
      PATH: `${join(ROOT, 'bin')}:${process.env.PATH}`,
      HOME: home,
      // `npm run build` is a command of the page. The program that the other tests use must not be built again.
      DOCSHELF_BUILT: '1',
      DOCSHELF__SERVER__HOST: '127.0.0.1',
      DOCSHELF__SERVER__PORT: String(site),
      DOCSHELF__ADMIN__PORT: String(admin),
      DOCSHELF__API__PORT: String(api),
      DOCSHELF__NETWORK__PROXY: 'off',
    },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = (): void => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {
      // The whole group has ended.
    }
  };
  bench.onEnd(kill);
  const timer = setTimeout(kill, SESSION_MS_MAX);
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  return { code, outputs: output.split(`${mark}\n`), errors };
}

describe.each(['tutorial-first-site.md', 'tutorial-markdown.md'])('docs/%s', (page) => {
  test('runs every command in order and prints the output that the page shows', async () => {
    const blocks = await blocksOf(page);
    expect(blocks.filter(({ kind }) => kind === 'sh').length).toBeGreaterThan(7);
    const { code, outputs, errors } = await follow(blocks);
    expect({ code, ran: outputs.length - 1, errors: code === 0 ? '' : errors + outputs.at(-1) }).toEqual({
      code: 0,
      ran: blocks.length,
      errors: '',
    });
    const shown = blocks.flatMap(({ kind, text }, at) => (kind === 'text' ? [{ text, at }] : []));
    expect(shown.length).toBeGreaterThan(2);
    for (const { text, at } of shown) {
      for (const line of text.trim().split('\n')) expect(outputs[at - 1], `block ${at}`).toContain(line.trim());
    }
  });
});

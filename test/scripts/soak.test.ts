import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

describe('npm run soak', () => {
  it('runs each test file whose number of random cases is configurable, directly or by a call of fuzz()', () => {
    const script = readFileSync(join(ROOT, 'scripts/run.sh'), 'utf8');
    const [, listing = 'false'] = /\$\((grep .* test)\)/.exec(script) ?? [];
    const listed = execFileSync('sh', ['-c', listing], { cwd: ROOT, encoding: 'utf8' }).split('\n');
    expect(listed).toEqual(
      expect.arrayContaining([
        'test/archive/fuzz.test.ts',
        'test/web/fuzz.test.ts',
        'test/search/bundle-format.test.ts',
      ]),
    );
  });
});

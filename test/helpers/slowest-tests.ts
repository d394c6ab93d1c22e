import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

const SHOWN = 20;

/** Lists the slowest tests, and the slowest files with their hooks, at the end of a run. */
export default class SlowestTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => ({
        ms: test.diagnostic()?.duration ?? 0,
        name: `${fileOf(module)} > ${test.fullName}`,
      })),
    );
    const files = modules.map((module) => ({ ms: module.diagnostic().duration, name: fileOf(module) }));
    if (tests.length <= SHOWN) return;
    print(`the slowest ${SHOWN} of ${tests.length} tests`, tests);
    print(`the slowest of ${files.length} files`, files);
  }
}

function print(title: string, timed: readonly { readonly ms: number; readonly name: string }[]): void {
  const slowest = timed.toSorted((a, b) => b.ms - a.ms).slice(0, SHOWN);
  const lines = slowest.map(({ ms, name }) => `${(ms / 1000).toFixed(1).padStart(8)} s  ${name}`);
  console.log(`\n${title}:\n${lines.join('\n')}`);
}

function fileOf({ moduleId, project }: TestModule): string {
  return relative(project.vitest.config.root, moduleId);
}

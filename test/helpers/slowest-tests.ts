import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

const SHOWN = 20;

interface Timed {
  readonly name: string;
  readonly ms: number;
  /** Null if the suite does not measure it. */
  readonly processorSeconds: number | null;
}

/**
 * Lists the slowest tests and files (with hooks) after a run, with their time and their processor time, which depends less on
 * other load.
 */
export default class SlowestTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => ({
        ms: test.diagnostic()?.duration ?? 0,
        processorSeconds: test.meta().processorSeconds ?? null,
        name: `${fileOf(module)} > ${test.fullName}`,
        isFlaky: test.diagnostic()?.flaky === true,
      })),
    );
    const files = modules.map((module) => ({
      ms: module.diagnostic().duration,
      processorSeconds: module.meta().processorSeconds ?? null,
      name: fileOf(module),
    }));
    for (const { name, isFlaky } of tests) if (isFlaky) console.log(`needed a second attempt: ${name}`);
    if (tests.length <= SHOWN) return;
    print(`the slowest ${SHOWN} of ${tests.length} tests`, tests);
    print(`the slowest of ${files.length} files`, files);
  }
}

function print(title: string, timed: readonly Timed[]): void {
  const slowest = timed.toSorted((a, b) => b.ms - a.ms).slice(0, SHOWN);
  const lines = slowest.map(
    ({ ms, processorSeconds, name }) =>
      `${(ms / 1000).toFixed(1).padStart(8)} s ${(processorSeconds?.toFixed(1) ?? '').padStart(8)} s of a processor  ${name}`,
  );
  console.log(`\n${title}:\n${lines.join('\n')}`);
}

function fileOf({ moduleId, project }: TestModule): string {
  return relative(project.vitest.config.root, moduleId);
}

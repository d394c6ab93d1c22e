import { afterAll, afterEach, beforeAll, beforeEach, type TaskMeta } from 'vitest';
import { endFile } from './file-end.ts';
import { processorSeconds } from './processor-time.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** Processor time of a test, or of a file with its hooks, including child processes. */
    processorSeconds?: number;
  }
}

/** Runs before each test file. Files share a process and the modules that they import. */
let ofFile: TaskMeta = {};
let beforeFile = 0;
let beforeTest = 0;

beforeAll(() => {
  beforeFile = processorSeconds();
});
afterAll(() => {
  ofFile.processorSeconds = processorSeconds() - beforeFile;
});
afterAll(endFile);
beforeEach(({ task }) => {
  ofFile = task.file.meta;
  beforeTest = processorSeconds();
});
afterEach(({ task }) => {
  task.meta.processorSeconds = processorSeconds() - beforeTest;
});

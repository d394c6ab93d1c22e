/** Runs before each file of tests; files share a process, and with it the modules that they import. */
import { afterAll } from 'vitest';
import { endFile } from './file-end.ts';

afterAll(endFile);

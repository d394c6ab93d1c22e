import { mkdir } from 'node:fs/promises';
import type { OpenRenderer } from '../render/ports.ts';
import { ChromiumRenderer } from './chromium-renderer.ts';

/** The system's Chromium, as this process's environment names it. */
export const openRenderer: OpenRenderer = async (settings, tempDir) => {
  await mkdir(tempDir, { recursive: true });
  return new ChromiumRenderer({ ...settings, env: process.env, tempDir });
};

import { globSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { NEEDED_OUTSIDE } from './outside.mjs';

// What packages bring along and an image has no use for. The built program has of all others what it uses, with their licences.
mkdirSync('needed');
for (const name of NEEDED_OUTSIDE) renameSync(join('node_modules', name), join('needed', name));
rmSync('node_modules', { recursive: true });
renameSync('needed', 'node_modules');

// The inference runtime brings its library for five platforms; an image carries its own, 45 of 288 MB.
const libraries = 'node_modules/onnxruntime-node/bin/napi-v6';
for (const platform of readdirSync(libraries)) {
  for (const arch of readdirSync(join(libraries, platform))) {
    if (platform === process.platform && arch === process.arch) continue;
    rmSync(join(libraries, platform, arch), { recursive: true });
  }
}

// The trace viewer has no window here; types and source maps are for who writes programs.
const useless = ['node_modules/playwright-core/lib/vite', 'node_modules/**/*.d.{ts,mts,cts}', 'node_modules/**/*.map'];
for (const path of globSync(useless)) rmSync(path, { recursive: true, force: true });

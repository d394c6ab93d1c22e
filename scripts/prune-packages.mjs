import { globSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

// What packages bring along and an image has no use for. Licences stay.

// The inference runtime brings its library for five platforms; an image carries its own, 45 of 288 MB.
const libraries = 'node_modules/onnxruntime-node/bin/napi-v6';
for (const platform of readdirSync(libraries)) {
  for (const arch of readdirSync(join(libraries, platform))) {
    if (platform === process.platform && arch === process.arch) continue;
    rmSync(join(libraries, platform, arch), { recursive: true });
  }
}

// Types and source maps are for who writes programs. Where a package has its code twice, Node takes what its "exports" name
// first, which for these is CommonJS; the theme of highlighted code is ours; the trace viewer has no window here.
const useless = [
  'node_modules/{@aws-sdk,@smithy}/*/{dist-es,dist-types}',
  'node_modules/highlight.js/{styles,scss}',
  'node_modules/playwright-core/lib/vite',
  // Libraries of Bare, another runtime than Node, for nine platforms.
  'node_modules/bare-*/prebuilds',
  'node_modules/bintrees/test',
  'node_modules/{@modelcontextprotocol/*,zod}/**/*.cjs',
  'node_modules/zod/src',
  'node_modules/**/*.d.{ts,mts,cts}',
  'node_modules/**/*.map',
];
for (const path of globSync(useless)) rmSync(path, { recursive: true, force: true });

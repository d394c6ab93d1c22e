import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

// The inference runtime brings its library for five platforms; an image carries its own, 45 of 288 MB.
const libraries = 'node_modules/onnxruntime-node/bin/napi-v6';
for (const platform of readdirSync(libraries)) {
  for (const arch of readdirSync(join(libraries, platform))) {
    if (platform === process.platform && arch === process.arch) continue;
    rmSync(join(libraries, platform, arch), { recursive: true });
  }
}

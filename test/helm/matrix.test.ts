import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { CHART, fetchHelm, helm, type Manifest, parseManifests, podsOf, ROOT, template, valueFiles } from './chart.ts';
import { GIVEN } from './given.ts';
import { manifestFaults } from './manifest-faults.ts';
import { layOutPod } from './pod-folders.ts';

const MATRIX = [...valueFiles('test/helm/values'), ...valueFiles('helm/examples')];
const LINK_CANARY = 'canary-7f3a';
const dir = newFolder();

/** Requirements of the restricted Pod Security Standard for each container. */
const RESTRICTED = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };

beforeAll(fetchHelm, 120_000);

async function expectSound(manifests: readonly Manifest[]): Promise<void> {
  expect((await Promise.all(manifests.map(manifestFaults))).flat()).toEqual([]);
  const names = manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  expect(new Set(names).size).toBe(names.length);
}

function expectRestricted(manifests: readonly Manifest[]): void {
  for (const { owner, spec } of podsOf(manifests)) {
    expect(spec.securityContext, owner).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(spec.automountServiceAccountToken, owner).toBe(false);
    const containers = [...(spec.initContainers ?? []), ...spec.containers];
    for (const container of containers) {
      expect(container.securityContext, `${owner} ${container.name}`).toEqual(RESTRICTED);
      expect(container.resources.limits.memory, `${owner} ${container.name}`).toMatch(/^\d+Mi$/);
      expect(
        (container.volumeMounts ?? []).filter((mount: Manifest) => 'subPath' in mount),
        owner,
      ).toEqual([]);
      const volumes = new Set((spec.volumes ?? []).map(({ name }: Manifest) => name));
      for (const { name } of container.volumeMounts ?? [])
        expect(volumes, `${owner} ${container.name}`).toContain(name);
    }
    for (const volume of spec.volumes ?? []) expect(volume.name.length, volume.name).toBeLessThanOrEqual(63);
  }
}

/** Loads the config of each docshelf, with its mounts as the kubelet writes them. */
async function expectLoads(manifests: readonly Manifest[], home: string): Promise<number> {
  let loaded = 0;
  for (const { metadata, spec } of podsOf(manifests).filter(({ owner }) => owner.startsWith('Deployment/'))) {
    const root = join(home, metadata.labels['app.kubernetes.io/component']);
    const { here, args, env } = layOutPod(root, manifests, { metadata, spec }, GIVEN);
    expect(args).toEqual(['serve', '--config', here('/etc/docshelf/config.yaml')]);
    const { config } = await loadConfig({ file: null, env, cwd: root });
    expect(config.admin).toMatchObject({ host: '0.0.0.0', port: 9090 });
    expect(config.storage.dir).toBe(here('/var/lib/docshelf'));
    loaded += 1;
  }
  return loaded;
}

describe('Helm chart', () => {
  it('passes helm lint --strict', () => {
    expect(helm('lint', '--strict', CHART)).toContain('0 chart(s) failed');
  });

  it('is tested with at least 14 value files', () => {
    expect(MATRIX.length).toBeGreaterThanOrEqual(14);
  });

  it.each(MATRIX)(
    'creates valid manifests with restricted pods and a loadable config for the values file $name',
    async ({ name, file }) => {
      const manifests = template('--values', file);
      await expectSound(manifests);
      expectRestricted(manifests);
      expect(await expectLoads(manifests, join(dir, name))).toBeGreaterThan(0);
      const outside = manifests.filter(({ kind }) => kind !== 'Secret');
      expect(JSON.stringify(outside)).not.toContain(LINK_CANARY);
    },
  );

  it('works as a subchart that uses global values of its parent', async () => {
    const parent = join(dir, 'parent');
    cpSync(join(ROOT, 'test/helm/parent'), parent, { recursive: true });
    mkdirSync(join(parent, 'charts'));
    cpSync(CHART, join(parent, 'charts/docshelf'), { recursive: true });
    const manifests = parseManifests(helm('template', 'platform', parent, '--namespace', 'docs'));
    await expectSound(manifests);
    expectRestricted(manifests);
    for (const { spec } of podsOf(manifests)) {
      expect(spec.containers[0].image).toBe('registry.example/docshelf:0.1.0');
      expect(spec.imagePullSecrets).toEqual([{ name: 'global-pull' }]);
      expect(spec.securityContext).not.toHaveProperty('runAsUser');
    }
  });
});

describe('manifestFaults() (check of Kubernetes manifests against their schemas)', () => {
  it('finds unknown fields, wrong types and missing fields at any depth', async () => {
    const [deployment] = template('--show-only', 'templates/deployment.yaml');
    const container = deployment.spec.template.spec.containers[0];
    container.imagePullPolice = 'Always';
    container.livenessProbe.httpGet.port = true;
    delete deployment.spec.selector;
    deployment.spec.template.spec.volumes[0].subPath = 'x';
    expect((await manifestFaults(deployment)).map((fault) => fault.replace(/ type .*/, ' type'))).toEqual(
      expect.arrayContaining([
        'apps/v1 Deployment /spec/template/spec/containers/0/imagePullPolice is unknown',
        'apps/v1 Deployment /spec/template/spec/volumes/0/subPath is unknown',
        expect.stringContaining('livenessProbe/httpGet/port'),
        expect.stringContaining('selector'),
      ]),
    );
  });

  it('returns an error for an object whose kind has no schema', async () => {
    expect(await manifestFaults({ apiVersion: 'v2', kind: 'Nothing', metadata: { name: 'x' } })).toEqual([
      'v2 Nothing has no schema here',
    ]);
  });
});

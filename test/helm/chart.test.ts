import { beforeAll, describe, expect, it } from 'vitest';
import {
  CHART,
  configOf,
  EVERYTHING,
  fetchHelm,
  helm,
  type Manifest,
  only,
  podsOf,
  siteOf,
  template,
  templateWith,
} from './chart.ts';

const LINK = 'https://storage.example/acme.tar.gz?signature=canary-7f3a';

beforeAll(fetchHelm, 120_000);

const valuesOf = (manifests: readonly Manifest[]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(only(manifests, 'Secret').data).map(([key, value]) => [
      key,
      Buffer.from(String(value), 'base64').toString(),
    ]),
  );

describe('staticExport values of the chart', () => {
  it('store bundleUrl in a mounted Secret, and keep the version 3.10 as text', () => {
    const manifests = templateWith(
      'staticExport.enabled=true',
      `staticExport.bundleUrl=${LINK}`,
      'staticExport.version=3.10',
    );
    expect(valuesOf(manifests)).toEqual({ 'staticExport.bundleUrl': LINK });
    expect(configOf(manifests).staticExport).toEqual({
      enabled: true,
      version: '3.10',
      bundleUrlFile: '/etc/docshelf/staticExport.bundleUrl',
    });
    const { containers, volumes } = siteOf(manifests).spec.template.spec;
    // One volume, because the kubelet then swaps version and link at once.
    const link = { key: 'staticExport.bundleUrl', path: 'staticExport.bundleUrl', mode: 0o440 };
    expect(volumes.filter((volume: Manifest) => 'projected' in volume)).toEqual([
      {
        name: 'config',
        projected: {
          sources: [
            { configMap: { name: 'docshelf', items: [{ key: 'config.yaml', path: 'config.yaml' }] } },
            { secret: { name: 'docshelf', items: [link] } },
          ],
        },
      },
    ]);
    expect(volumes.filter((volume: Manifest) => 'secret' in volume || 'configMap' in volume)).toEqual([]);
    expect(containers[0].volumeMounts).toContainEqual({ name: 'config', mountPath: '/etc/docshelf', readOnly: true });
    expect(JSON.stringify(manifests.filter(({ kind }) => kind !== 'Secret'))).not.toContain('canary');
  });

  it('can name a key of your Secret that contains bundleUrl', () => {
    const manifests = templateWith('staticExport.existingSecret.name=mine', 'staticExport.existingSecret.key=url');
    expect(manifests.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    const { projected } = siteOf(manifests).spec.template.spec.volumes.find(({ name }: Manifest) => name === 'config');
    expect(projected.sources).toContainEqual({
      secret: { name: 'mine', items: [{ key: 'url', path: 'staticExport.bundleUrl', mode: 0o440 }] },
    });
  });
});

describe('config of the chart', () => {
  it('does not restart pods when it changes, except with `config.reload: restart`', () => {
    const podWith = (...settings: string[]) => siteOf(templateWith(...settings)).spec.template;
    expect(podWith('config.log.level=debug')).toEqual(podWith('config.log.level=info'));
    expect(podWith(`staticExport.bundleUrl=${LINK}`, 'staticExport.version=a')).toEqual(
      podWith(`staticExport.bundleUrl=${LINK}2`, 'staticExport.version=b'),
    );
    const restarted = (level: string) =>
      podWith('config.reload=restart', `config.log.level=${level}`).metadata.annotations;
    expect(restarted('debug')).not.toEqual(restarted('info'));
    expect(configOf(templateWith('config.reload=restart'))).not.toHaveProperty('reload');
  });

  it('contains no credentials, because docshelf reads each credential from a file of the Secret', () => {
    const manifests = template('--values', EVERYTHING);
    expect(Object.keys(valuesOf(manifests)).sort()).toEqual([
      'admin.token',
      'exportApi.store.accessKeyId',
      'exportApi.store.secretAccessKey',
      'network.proxy',
      'staticExport.bundleUrl',
      'staticExport.signature.url',
    ]);
    expect(siteOf(manifests).spec.template.spec.containers[0].env).toEqual(
      expect.arrayContaining([
        { name: 'DOCSHELF__ADMIN__TOKEN__FILE', value: '/etc/docshelf/admin.token' },
        {
          name: 'DOCSHELF__STATIC_EXPORT__SIGNATURE__URL__FILE',
          value: '/etc/docshelf/staticExport.signature.url',
        },
      ]),
    );
  });
});

const SPLIT = [
  'exportApi.enabled=true',
  'exportApi.pods=split',
  'config.exportApi.store.kind=s3',
  'config.exportApi.store.bucket=docs',
  'fromSecret.database\\.urlFile.name=db',
  'fromSecret.database\\.urlFile.key=url',
];

describe('export API pods of the chart', () => {
  it('are the site pods with `exportApi.pods: shared`', () => {
    const manifests = templateWith('exportApi.enabled=true', 'exportApi.pods=shared');
    expect(podsOf(manifests).map(({ owner }) => owner)).toEqual(['Deployment/docshelf', 'Pod/docshelf-test']);
    expect(configOf(manifests)).toMatchObject({
      exportApi: { enabled: true, role: 'both' },
      api: { publicUrl: 'http://docshelf.docs.svc:8081' },
    });
  });

  it('serve no site and have their own Service if exportApi.pods is not set', () => {
    const manifests = templateWith('exportApi.enabled=true', `staticExport.bundleUrl=${LINK}`);
    expect(configOf(manifests)).not.toHaveProperty('exportApi');
    expect(configOf(manifests, 'docshelf-export')).toMatchObject({
      staticExport: { enabled: false },
      exportApi: { enabled: true, role: 'both' },
      api: { publicUrl: 'http://docshelf-export.docs.svc:8081' },
    });
    const pod = only(manifests, 'Deployment', 'docshelf-export').spec.template;
    expect(pod.metadata.labels).toMatchObject(only(manifests, 'Service', 'docshelf-export').spec.selector);
    expect(JSON.stringify(pod.spec.volumes)).not.toContain('bundleUrl');
    expect(only(manifests, 'PersistentVolumeClaim', 'docshelf-export').spec.accessModes).toEqual(['ReadWriteOnce']);
  });

  it('can have several replicas per role with `exportApi.pods: split`, PostgreSQL and S3', () => {
    const manifests = templateWith(
      ...SPLIT,
      'exportApi.replicas=3',
      'exportApi.workers.autoscaling.enabled=true',
      'exportApi.workers.resources.requests.cpu=2',
    );
    expect(configOf(manifests, 'docshelf-export').exportApi.role).toBe('api');
    expect(configOf(manifests, 'docshelf-export-worker').exportApi.role).toBe('worker');
    for (const name of ['docshelf', 'docshelf-export', 'docshelf-export-worker']) {
      expect(configOf(manifests, name).database.urlFile).toBe('/etc/docshelf/database.urlFile');
    }
    const deploymentOf = (name: string) => only(manifests, 'Deployment', name).spec;
    expect(deploymentOf('docshelf-export').replicas).toBe(3);
    expect(deploymentOf('docshelf-export-worker')).not.toHaveProperty('replicas');
    expect(deploymentOf('docshelf-export-worker').template.spec.containers[0].resources.requests.cpu).toBe(2);
    for (const name of ['docshelf-export', 'docshelf-export-worker']) {
      const { strategy, template } = deploymentOf(name);
      expect(strategy.type).toBe('RollingUpdate');
      expect(template.spec.volumes).toContainEqual(
        expect.objectContaining({ name: 'data', ephemeral: expect.anything() }),
      );
    }
    const scaler = only(manifests, 'HorizontalPodAutoscaler');
    expect(scaler.spec.scaleTargetRef.name).toBe('docshelf-export-worker');
    const budgets = manifests.filter(({ kind }) => kind === 'PodDisruptionBudget');
    expect(budgets.map(({ metadata }) => metadata.name).toSorted()).toEqual([
      'docshelf-export',
      'docshelf-export-worker',
    ]);
    expect(only(manifests, 'Service', 'docshelf-export').spec.selector).toMatchObject({
      'app.kubernetes.io/component': 'export',
    });
  });

  it('have an autoscaler per role with separate limits, in addition to the autoscaler of the site', () => {
    const scaled = (part: string, least: number, most: number) => [
      ...[`${part}autoscaling.enabled=true`, `${part}resources.requests.cpu=1`],
      ...[`${part}autoscaling.minReplicas=${least}`, `${part}autoscaling.maxReplicas=${most}`],
    ];
    const manifests = templateWith(
      ...SPLIT,
      ...scaled('', 2, 6),
      ...scaled('exportApi.', 3, 7),
      ...scaled('exportApi.workers.', 1, 20),
      'persistence.perReplica=true',
    );
    const scalers = manifests.filter(({ kind }) => kind === 'HorizontalPodAutoscaler');
    const facts = scalers.map(({ metadata, spec: { scaleTargetRef, minReplicas, maxReplicas, metrics } }) => [
      ...[metadata.name, scaleTargetRef.kind, scaleTargetRef.name, minReplicas, maxReplicas],
      metrics[0].resource.target.averageUtilization,
    ]);
    expect(facts.toSorted()).toEqual([
      ['docshelf', 'Deployment', 'docshelf', 2, 6, 70],
      ['docshelf-export', 'Deployment', 'docshelf-export', 3, 7, 70],
      ['docshelf-export-worker', 'Deployment', 'docshelf-export-worker', 1, 20, 70],
    ]);
    for (const [name] of facts) expect(only(manifests, 'Deployment', name).spec).not.toHaveProperty('replicas');
  });

  it('can be several site pods with `exportApi.pods: shared`', () => {
    const shared = templateWith(...SPLIT, 'exportApi.pods=shared', 'replicas=3', 'persistence.perReplica=true');
    expect(siteOf(shared).spec.replicas).toBe(3);
    expect(configOf(shared).exportApi.role).toBe('both');
  });
});

describe('bundles that the chart takes from container images', () => {
  const reference = 'registry.example/bundle@sha256:aa';

  it('are mounted as the preload folder if there is one image volume', () => {
    const manifests = templateWith(`bundles.imageVolumes[0].reference=${reference}`);
    const { spec } = siteOf(manifests).spec.template;
    expect(spec.volumes).toContainEqual({ name: 'bundle-0', image: { reference } });
    expect(spec.containers[0].volumeMounts).toContainEqual({ name: 'bundle-0', mountPath: '/bundles', readOnly: true });
    expect(spec).not.toHaveProperty('initContainers');
    expect(configOf(manifests).staticExport.preload).toBe('/bundles');
  });

  it('are copied or linked into one preload folder if there are several images', () => {
    const { spec } = siteOf(
      templateWith(
        `bundles.imageVolumes[0].reference=${reference}`,
        `bundles.imageVolumes[1].reference=${reference}b`,
        'bundles.images[0].image=registry.example/other:1',
      ),
    ).spec.template;
    expect(spec.initContainers.map(({ name }: Manifest) => name)).toEqual(['copy-bundle-0', 'link-bundles']);
    expect(spec.initContainers[0].command).toEqual(['cp', '-rf', '/bundle/.', '/bundles/']);
    expect(spec.containers[0].volumeMounts).toContainEqual({ name: 'bundles', mountPath: '/bundles' });
  });
});

describe('volumes of the chart', () => {
  it.each([
    ['one volume on one node', [], 'Recreate', 'persistentVolumeClaim', 1],
    ['no volume', ['persistence.enabled=false'], 'RollingUpdate', 'emptyDir', 0],
    ['an existing claim', ['persistence.existingClaim=mine'], 'Recreate', 'persistentVolumeClaim', 0],
    ['one volume per replica', ['replicas=2', 'persistence.perReplica=true'], 'RollingUpdate', 'ephemeral', 0],
    [
      'a shared volume',
      ['replicas=2', 'persistence.accessModes={ReadWriteMany}'],
      'RollingUpdate',
      'persistentVolumeClaim',
      1,
    ],
  ])(
    'set the update strategy, the volume type and the number of claims: %s',
    (_what, settings, strategy, kind, claims) => {
      const manifests = templateWith(...settings);
      const { spec } = siteOf(manifests);
      expect(spec.strategy.type).toBe(strategy);
      expect(spec.template.spec.volumes.find(({ name }: Manifest) => name === 'data')).toHaveProperty(kind);
      expect(manifests.filter((each) => each.kind === 'PersistentVolumeClaim')).toHaveLength(claims);
    },
  );
});

describe('chart values for several replicas with separate downloads', () => {
  const several = ['replicas=2', 'persistence.enabled=false'];
  it.each([
    ['a link that does not expire', ['staticExport.bundleUrl=https://mirror.example/a.tar.gz']],
    [
      'a Secret whose link does not expire',
      ['staticExport.existingSecret.name=a', 'staticExport.existingSecret.expires=false'],
    ],
    ['bundles in images', [`staticExport.bundleUrl=${LINK}`, 'bundles.images[0].image=a']],
  ])('are allowed if each replica can always download the bundle: %s', (_what, settings) => {
    expect(siteOf(templateWith(...several, ...settings)).spec.replicas).toBe(2);
  });
});

describe('pod of the chart', () => {
  it('has probes on the admin listener, an hour to become ready, and a grace period for preStop and shutdown', () => {
    const { spec } = siteOf(templateWith());
    const [container] = spec.template.spec.containers;
    expect(container.startupProbe.httpGet).toEqual({ path: '/livez', port: 'admin' });
    expect(container.livenessProbe.httpGet).toEqual({ path: '/livez', port: 'admin' });
    expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'admin' });
    expect(container.startupProbe.periodSeconds * container.startupProbe.failureThreshold).toBeGreaterThanOrEqual(300);
    expect(spec.progressDeadlineSeconds).toBe(3600);
    const shutdownSeconds = 20;
    expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(
      container.lifecycle.preStop.sleep.seconds + shutdownSeconds,
    );
  });
});

describe('NOTES.txt', () => {
  const notesWith = (...settings: string[]): string => {
    const sets = settings.flatMap((setting) => ['--set', setting]);
    const text = helm('install', 'docshelf', CHART, '--namespace', 'docs', '--dry-run=client', ...sets);
    return text.slice(text.indexOf('NOTES:'));
  };

  it.each([
    ['the default', [], 'exec -i deploy/docshelf -- docshelf bundle import - < BUNDLE.tar.gz'],
    ['a pinned version', ['staticExport.version=3.10'], 'bundle import - --version 3.10 <'],
    ['a link', [`staticExport.bundleUrl=${LINK}`], 'fetches the bundle from the link in the Secret docshelf.'],
    ['your Secret', ['staticExport.existingSecret.name=mine'], 'fetches the bundle from the link in the Secret mine.'],
    ['an image', ['bundles.images[0].image=a'], 'The bundle comes in an image'],
    ['serving turned off', ['staticExport.enabled=false'], '--set staticExport.enabled=true'],
    ['exports', ['exportApi.enabled=true'], 'http://docshelf-export.docs.svc:8081/v1/static-export'],
    [
      'several pods and no version',
      ['replicas=2', 'persistence.accessModes={ReadWriteMany}'],
      'Import with --no-activate',
    ],
  ])('shows the next step after an installation with %s', (_what, settings, step) => {
    const notes = notesWith(...settings);
    expect(notes).toContain(step);
    expect(notes).not.toContain('canary');
  });
});

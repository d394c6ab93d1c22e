import { beforeAll, describe, expect, it } from 'vitest';
import { EVERYTHING, fetchHelm, type Manifest, only, template, templateWith } from './chart.ts';

beforeAll(fetchHelm, 120_000);

describe('network rules of the chart', () => {
  const policyOf = (...settings: string[]) => only(templateWith(...settings), 'NetworkPolicy').spec;

  it('limit an air-gapped deployment to DNS and the listed networks', () => {
    expect(policyOf('deployment.type=air-gapped').egress).toHaveLength(1);
    const { egress, policyTypes } = policyOf(
      'deployment.type=air-gapped',
      'networkPolicy.egress.cidrs={10.0.0.0/8,192.0.2.0/24}',
    );
    expect(policyTypes).toEqual(['Ingress', 'Egress']);
    expect(egress).toEqual([
      {
        ports: [
          { port: 53, protocol: 'UDP' },
          { port: 53, protocol: 'TCP' },
        ],
        to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } }],
      },
      { to: [{ ipBlock: { cidr: '10.0.0.0/8' } }, { ipBlock: { cidr: '192.0.2.0/24' } }] },
    ]);
    expect(policyOf().egress).toEqual([{}]);
  });

  it('allow requests to the export API if the site renews its export through this API', () => {
    const { spec } = only(
      template('--values', EVERYTHING, '--set', 'networkPolicy.egress.extra=null'),
      'NetworkPolicy',
    );
    expect(spec.egress.map(({ to }: Manifest) => Object.keys(to[0])[0])).toEqual([
      'namespaceSelector',
      'podSelector',
      'ipBlock',
    ]);
    expect(spec.egress[1].ports).toEqual([{ port: 8081, protocol: 'TCP' }]);
  });

  it('allow requests to the admin listener only from the monitoring namespace', () => {
    const rules = policyOf('networkPolicy.monitoringNamespace=observability').ingress;
    const admin = rules.filter(({ ports }: Manifest) => ports.some(({ port }: Manifest) => port === 9090));
    expect(admin).toHaveLength(1);
    expect(admin[0].from).toEqual([
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'observability' } } },
    ]);
    expect(only(templateWith(), 'Service').spec.ports.map(({ name }: Manifest) => name)).toEqual(['http', 'api']);
  });

  it('treat the host of staticExport.bundleUrl as internal if allowedHosts contains that host', () => {
    const inside = (host: string, allowed: string) =>
      templateWith(
        'deployment.type=air-gapped',
        `staticExport.bundleUrl=https://${host}/a.tar.gz`,
        `config.network.allowedHosts={${allowed}}`,
      );
    expect(() => inside('mirror.example:8443', 'mirror.example')).not.toThrow();
    expect(() => inside('mirror.example:8443', 'mirror.example:8443')).not.toThrow();
    expect(() => inside('a.mirror.example', '*.mirror.example')).not.toThrow();
    expect(() => inside('mirror.example:8443', 'mirror.example:443')).toThrow(/contains the host mirror.example:8443/);
    expect(() => inside('mirror.example', '*.mirror.example')).toThrow(/contains the host/);
    expect(() =>
      templateWith('deployment.type=air-gapped', 'staticExport.bundleUrl=file:///mnt/a.tar.gz'),
    ).not.toThrow();
  });

  it('treat a bucket as internal if allowedHosts contains the host of its endpoint', () => {
    const inside = (allowed: string, ...s3: string[]) =>
      templateWith(
        'deployment.type=air-gapped',
        'staticExport.bundleUrl=s3://docs/a.tar.gz',
        `config.network.allowedHosts={${allowed}}`,
        ...s3.map((words) => `config.network.s3.${words}`),
      );
    const minio = 'endpoint=https://minio.internal:9000';
    expect(() => inside('minio.internal:9000', minio, 'pathStyle=true')).not.toThrow();
    expect(() => inside('docs.minio.internal', minio)).not.toThrow();
    expect(() => inside('docs', minio)).toThrow(/contains the host docs.minio.internal:9000/);
    expect(() => inside('docs.s3.eu-central-1.amazonaws.com', 'region=eu-central-1')).not.toThrow();
    // docshelf itself checks a region in the environment.
    expect(() => inside('elsewhere.dev')).not.toThrow();
  });

  it('route the hosts of the site, the search API and the export API to the correct Service, by Ingress and HTTPRoute', () => {
    const manifests = template('--values', EVERYTHING);
    const { rules } = only(manifests, 'Ingress').spec;
    expect(
      rules.map(({ host, http }: Manifest) => [
        host,
        http.paths[0].backend.service.name,
        http.paths[0].backend.service.port.number,
      ]),
    ).toEqual([
      ['docs.acme.dev', 'docshelf', 8080],
      ['api.acme.dev', 'docshelf-export', 8081],
      ['search.acme.dev', 'docshelf', 8081],
    ]);
    const routes = manifests
      .filter(({ kind }) => kind === 'HTTPRoute')
      .map(({ spec }) => [spec.hostnames, spec.rules[0].backendRefs]);
    expect(routes).toEqual([
      [['docs.acme.dev', 'www.acme.dev'], [{ name: 'docshelf', port: 8080 }]],
      [['api.acme.dev'], [{ name: 'docshelf-export', port: 8081 }]],
      [['search.acme.dev'], [{ name: 'docshelf', port: 8081 }]],
    ]);
  });
});

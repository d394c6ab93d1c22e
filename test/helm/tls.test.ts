import { beforeAll, describe, expect, it } from 'vitest';
import { configOf, fetchHelm, type Manifest, only, siteOf, templateWith } from './chart.ts';

beforeAll(fetchHelm, 120_000);

const schemesOf = ({ spec }: Manifest): unknown[] => {
  const [{ startupProbe, livenessProbe, readinessProbe }] = spec.template.spec.containers;
  return [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.scheme);
};
const serviceOf = (manifests: readonly Manifest[]): Manifest =>
  manifests.find(({ kind, metadata }) => kind === 'Service' && metadata.name === 'docshelf');

describe('TLS of the chart', () => {
  it('mounts the Secret with the config, and enables TLS for the site', () => {
    const manifests = templateWith('tls.existingSecret=docs-tls', 'service.port=443');
    const tls = { certFile: '/etc/docshelf/server.tls.certFile', keyFile: '/etc/docshelf/server.tls.keyFile' };
    expect(configOf(manifests).server.tls).toEqual(tls);
    expect(configOf(manifests).admin.tls).toBeUndefined();
    const { volumes } = siteOf(manifests).spec.template.spec;
    const mode = 0o440;
    expect(volumes.find(({ name }: Manifest) => name === 'config').projected.sources).toEqual(
      expect.arrayContaining([
        { secret: { name: 'docs-tls', items: [{ key: 'tls.crt', path: 'server.tls.certFile', mode }] } },
        { secret: { name: 'docs-tls', items: [{ key: 'tls.key', path: 'server.tls.keyFile', mode }] } },
      ]),
    );
    expect(serviceOf(manifests).spec.ports[0]).toMatchObject({ port: 443, appProtocol: 'https' });
    expect(schemesOf(siteOf(manifests))).toEqual([undefined, undefined, undefined]);
  });

  it('uses https for probes and Prometheus if the admin listener uses TLS', () => {
    const manifests = templateWith(
      'tls.existingSecret=docs-tls',
      'tls.listeners={site,admin}',
      'serviceMonitor.enabled=true',
    );
    expect(configOf(manifests).admin.tls.certFile).toBe('/etc/docshelf/admin.tls.certFile');
    expect(schemesOf(siteOf(manifests))).toEqual(['HTTPS', 'HTTPS', 'HTTPS']);
    expect(only(manifests, 'ServiceMonitor').spec.endpoints[0]).toMatchObject({ scheme: 'https' });
  });

  it('opens the redirect port on pod, Service and network policy', () => {
    const values = ['tls.existingSecret=docs-tls', 'service.port=443', 'networkPolicy.enabled=true'];
    const manifests = templateWith(...values, 'config.server.tls.redirectPort=8082');
    expect(configOf(manifests).server.tls.redirectPort).toBe(8082);
    const redirect = { name: 'redirect', containerPort: 8082 };
    expect(siteOf(manifests).spec.template.spec.containers[0].ports).toContainEqual(redirect);
    const port = { name: 'redirect', port: 80, targetPort: 'redirect', appProtocol: 'http' };
    expect(serviceOf(manifests).spec.ports).toContainEqual(port);
    expect(only(manifests, 'NetworkPolicy').spec.ingress[0].ports).toContainEqual({ port: 8082, protocol: 'TCP' });
    expect(JSON.stringify(templateWith(...values))).not.toContain('redirect"');
  });

  it('is off by default', () => {
    const manifests = templateWith();
    expect(configOf(manifests).server.tls).toBeUndefined();
    expect(serviceOf(manifests).spec.ports[0].appProtocol).toBe('http');
  });
});

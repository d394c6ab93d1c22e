import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/config/index.ts';

const ROOT = join(import.meta.dirname, '../..');
const HELM = join(ROOT, '.cache/helm/helm');
const LINK = 'https://storage.example/acme.tar.gz?signature=canary-7f3a';

// biome-ignore lint/suspicious/noExplicitAny: a manifest is whatever Kubernetes defines; the assertions name what they need.
type Manifest = any;

const helm = (...args: string[]) => execFileSync(HELM, args, { encoding: 'utf8', stdio: 'pipe' });

/** The chart's manifests by kind. */
function template(...settings: string[]): Record<string, Manifest> {
  const text = helm('template', 'docs', join(ROOT, 'helm'), ...settings.flatMap((setting) => ['--set', setting]));
  const manifests = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
  return Object.fromEntries(manifests.filter(Boolean).map((manifest) => [manifest.kind, manifest]));
}

if (!existsSync(HELM))
  console.warn('The chart is not tested: .cache/helm/helm is missing. scripts/helm.sh fetches it.');

describe.skipIf(!existsSync(HELM))('the chart', () => {
  const dir = mkdtempSync(join(tmpdir(), 'docshelf-chart-'));
  afterAll(() => rmSync(dir, { recursive: true }));

  it('passes helm lint --strict', () => {
    expect(helm('lint', '--strict', join(ROOT, 'helm'))).toContain('0 chart(s) failed');
  });

  it('writes a config that docshelf accepts, with the version as text and the link in a file', async () => {
    const { ConfigMap } = template(
      'staticExport.version=3.10',
      `staticExport.bundleUrl=${LINK}`,
      'config.log.level=debug',
    );
    const secretFile = join(dir, 'bundleUrl');
    writeFileSync(secretFile, LINK);
    const file = join(dir, 'config.yaml');
    const text: string = ConfigMap.data['config.yaml'];
    expect(text).toContain('/etc/docshelf-secret/bundleUrl');
    writeFileSync(file, text.replace('/etc/docshelf-secret/bundleUrl', secretFile));
    const { config } = await loadConfig({ file, env: {}, cwd: dir });
    expect(config).toMatchObject({
      server: { host: '0.0.0.0', port: 8080 },
      admin: { host: '0.0.0.0', port: 9090 },
      staticExport: { enabled: true, version: '3.10' },
      log: { level: 'debug' },
    });
    expect(config.staticExport.bundleUrl?.reveal()).toBe(LINK);
  });

  it('keeps the link in the Secret and nowhere else', () => {
    const { Secret, ...others } = template(`staticExport.bundleUrl=${LINK}`);
    expect(Buffer.from(Secret.data.bundleUrl, 'base64').toString()).toBe(LINK);
    expect(JSON.stringify(others)).not.toContain('canary');
  });

  it('refuses a link in the config, which stands in a ConfigMap', () => {
    expect(() => template(`config.staticExport.bundleUrl=${LINK}`)).toThrow(/becomes a Secret/);
  });

  it('makes no Secret without a link, and mounts that of another where one is named', () => {
    expect(template().Secret).toBeUndefined();
    const { Secret, Deployment } = template('staticExport.existingSecret=mine');
    expect(Secret).toBeUndefined();
    expect(Deployment.spec.template.spec.volumes).toContainEqual({
      name: 'secret',
      secret: { secretName: 'mine', defaultMode: 0o440 },
    });
  });

  it('asks for what the restricted pod security standard demands', () => {
    const pod = template().Deployment.spec.template.spec;
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(pod.containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('mounts folders that follow a change, and probes the admin port', () => {
    const [container] = template().Deployment.spec.template.spec.containers;
    expect(container.volumeMounts.filter((mount: Manifest) => 'subPath' in mount)).toEqual([]);
    expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'admin' });
    expect(container.livenessProbe.httpGet).toEqual({ path: '/livez', port: 'admin' });
    expect(container.ports).toContainEqual({ name: 'admin', containerPort: 9090 });
  });

  it('sends the service to the pod, by labels that select it', () => {
    const { Service, Deployment } = template('service.port=8000');
    expect(Deployment.spec.template.metadata.labels).toMatchObject(Service.spec.selector);
    expect(Service.spec.ports).toEqual([{ name: 'http', port: 8000, targetPort: 'http' }]);
  });

  it('claims a volume unless told otherwise', () => {
    expect(template('persistence.size=3Gi').PersistentVolumeClaim.spec.resources.requests.storage).toBe('3Gi');
    expect(template('persistence.enabled=false').PersistentVolumeClaim).toBeUndefined();
    expect(template('persistence.existingClaim=mine').PersistentVolumeClaim).toBeUndefined();
  });
});

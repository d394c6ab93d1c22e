import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type LoadedConfig, loadConfig } from '../../src/config/index.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { configOf, fetchHelm, type Manifest, only, podsOf, siteOf, template } from './chart.ts';
import { manifestFaults } from './manifest-faults.ts';
import { layOutPod, type VolumeFiles } from './pod-folders.ts';

const LINK = (domain: string): string => `https://storage.example/${domain}.tar.gz?signature=canary-7f3a`;
const PUBLIC_KEY = 'RWR9+ogUm6lA4h4PZoZXlOmUZNots2mLkQ8rnRcLDNGmD1yD7VpJRoPK';
const dir = newFolder();

beforeAll(fetchHelm, 120_000);

let files = 0;
function rendered(values: object): Manifest[] {
  const file = join(dir, `values-${files++}.yaml`);
  writeFileSync(file, stringify(values));
  return template('--values', file);
}

/** Four with one host each, four under paths of one host, and four whose links are in other Secrets. */
const DOMAINS = Array.from({ length: 12 }, (_, index) => `site-${index}`);
const TWELVE = DOMAINS.map((domain, index) => ({
  domain,
  title: `Site ${index}`,
  hosts: index < 4 ? [`${domain}.acme.dev`] : ['docs.acme.dev'],
  basePath: index < 4 ? '/' : `/${domain}`,
  staticExport:
    index < 8
      ? { bundleUrl: LINK(domain), version: `v${index}` }
      : { existingSecret: { name: `${domain}-link`, key: 'url' }, signature: { required: true } },
  ...(index < 8
    ? {}
    : { fromConfigMap: { 'staticExport.signature.publicKeys': { name: 'keys', key: 'minisign.pub' } } }),
}));
const GIVEN: VolumeFiles = {
  keys: { 'minisign.pub': PUBLIC_KEY },
  ...Object.fromEntries(DOMAINS.map((domain) => [`${domain}-link`, { url: LINK(domain) }])),
};

async function load(manifests: readonly Manifest[], name: string): Promise<LoadedConfig> {
  const [pod] = podsOf([siteOf(manifests)]);
  const { env } = layOutPod(join(dir, name), manifests, pod, GIVEN);
  return loadConfig({ file: null, env, cwd: dir });
}

describe('twelve sites in the chart', () => {
  let manifests: readonly Manifest[];
  beforeAll(() => {
    manifests = rendered({ sites: TWELVE });
  });

  it('form one loadable config, each with its own link, pinned version and public keys', async () => {
    expect((await Promise.all(manifests.map(manifestFaults))).flat()).toEqual([]);
    const { sites } = await load(manifests, 'twelve');
    expect(sites.map(({ domain, hosts, basePath }) => [domain, hosts[0], basePath])).toEqual(
      TWELVE.map(({ domain, hosts, basePath }) => [domain, hosts[0], basePath === '/' ? '/' : `${basePath}/`]),
    );
    for (const [index, { domain, config }] of sites.entries()) {
      const { enabled, version, bundleUrlFile, signature } = config.staticExport;
      expect({ enabled, version }).toEqual({ enabled: true, version: index < 8 ? `v${index}` : null });
      expect(bundleUrlFile?.text.reveal()).toBe(LINK(domain ?? ''));
      expect(signature.publicKeys.map((key) => (typeof key === 'string' ? key : key.text.reveal()))).toEqual(
        index < 8 ? [] : [PUBLIC_KEY],
      );
    }
    expect(JSON.stringify(manifests.filter(({ kind }) => kind !== 'Secret'))).not.toContain('canary');
  });

  it('have their files in the single config volume, which is replaced atomically', () => {
    const { containers, volumes } = siteOf(manifests).spec.template.spec;
    expect(volumes.map(({ name }: Manifest) => name)).toEqual(['config', 'data', 'tmp']);
    expect(volumes[0].projected.sources).toHaveLength(1 + 8 + 1);
    expect(containers[0].env).toEqual([{ name: 'DOCSHELF_CONFIG', value: '/etc/docshelf/config.yaml' }]);
  });

  it('do not restart pods if a thirteenth site with its own bundleUrl is added', () => {
    const more = { domain: 'more', hosts: ['more.acme.dev'], staticExport: { bundleUrl: LINK('more') } };
    const many = rendered({ sites: [...TWELVE, more] });
    expect(siteOf(many)).toEqual(siteOf(manifests));
    expect(Object.keys(only(many, 'Secret', 'docshelf-sites').data)).toContain('sites.more.staticExport.bundleUrl');
    const pods = [TWELVE, [...TWELVE, more]].map((sites) => siteOf(rendered({ sites, config: { reload: 'restart' } })));
    expect(pods[0]).not.toEqual(pods[1]);
  });

  it('are not configured in export API pods', () => {
    const withExports = rendered({ sites: TWELVE, exportApi: { enabled: true } });
    expect(configOf(withExports, 'docshelf-export')).not.toHaveProperty('sites');
    const { volumes } = only(withExports, 'Deployment', 'docshelf-export').spec.template.spec;
    expect(JSON.stringify(volumes)).not.toMatch(/sites|link/);
  });
});

describe('routes to several sites', () => {
  const places = (manifests: readonly Manifest[]): string[] =>
    only(manifests, 'Ingress').spec.rules.flatMap(({ host, http }: Manifest) =>
      http.paths.map(
        ({ path, pathType, backend }: Manifest) =>
          `${host ?? '*'}${path} ${pathType} ${backend.service.name}:${backend.service.port.number}`,
      ),
    );

  it('use one Ingress for hosts, base paths, the shelf page and the search API', () => {
    const hosts = [{ host: 'docs.acme.dev', path: '/v1/search', backend: 'api' }];
    const manifests = rendered({ sites: TWELVE.slice(3, 6), ingress: { enabled: true, hosts } });
    expect(places(manifests)).toEqual([
      'site-3.acme.dev/ Prefix docshelf:80',
      'docs.acme.dev/site-4 Prefix docshelf:80',
      'docs.acme.dev/site-5 Prefix docshelf:80',
      'docs.acme.dev/v1/search Prefix docshelf:8081',
      'docs.acme.dev/ Prefix docshelf:80',
    ]);
  });

  it('omit the root path if there is no shelf page', () => {
    const config = { server: { shelf: false } };
    expect(places(rendered({ sites: TWELVE.slice(4, 6), ingress: { enabled: true }, config }))).toEqual([
      'docs.acme.dev/site-4 Prefix docshelf:80',
      'docs.acme.dev/site-5 Prefix docshelf:80',
    ]);
  });

  it('route requests for all hosts to the site that has no host', () => {
    const sites = [{ domain: 'all' }, { domain: 'below', basePath: '/below/' }];
    expect(places(rendered({ sites, ingress: { enabled: true } }))).toEqual([
      '*/ Prefix docshelf:80',
      '*/below Prefix docshelf:80',
    ]);
  });

  it('use one HTTPRoute for hosts with the same paths, with rules by backend and filters', async () => {
    const filters = [
      { type: 'URLRewrite', urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } } },
    ];
    const manifests = rendered({
      sites: TWELVE,
      httpRoute: {
        enabled: true,
        parentRefs: [{ name: 'gateway' }],
        hosts: [{ host: 'docs.acme.dev', path: '/search-api', backend: 'api', filters }],
      },
    });
    const routes = manifests.filter(({ kind }) => kind === 'HTTPRoute');
    expect((await Promise.all(routes.map(manifestFaults))).flat()).toEqual([]);
    expect(routes.map(({ metadata, spec }) => [metadata.name, spec.hostnames])).toEqual([
      ['docshelf-site', DOMAINS.slice(0, 4).map((domain) => `${domain}.acme.dev`)],
      ['docshelf-site-api', ['docs.acme.dev']],
    ]);
    const pathsOf = ({ matches }: Manifest): string[] =>
      matches.map(({ path }: Manifest) => `${path.type} ${path.value}`);
    const [api, pages] = routes[1].spec.rules;
    expect(pathsOf(api)).toEqual(['PathPrefix /search-api']);
    expect(api).toMatchObject({ filters, backendRefs: [{ name: 'docshelf', port: 8081 }] });
    expect(pathsOf(pages)).toEqual([...DOMAINS.slice(4).map((domain) => `PathPrefix /${domain}`), 'PathPrefix /']);
    expect(pages.backendRefs).toEqual([{ name: 'docshelf', port: 80 }]);
  });

  it('are split into several HTTPRoutes if there are many hosts', () => {
    const many = (count: number, place: (index: number) => object): object[] =>
      Array.from({ length: count }, (_, index) => ({ domain: `site-${index}`, ...place(index) }));
    const httpRoute = { enabled: true, parentRefs: [{ name: 'gateway' }] };
    const byHost = rendered({ httpRoute, sites: many(36, (index) => ({ hosts: [`h${index}.acme.dev`] })) });
    const routes = byHost.filter(({ kind }) => kind === 'HTTPRoute');
    expect(routes.map(({ spec }) => spec.hostnames.length)).toEqual([16, 16, 4]);
    expect(new Set(routes.map(({ metadata }) => metadata.name)).size).toBe(3);
    const byPath = rendered({ httpRoute, sites: many(100, (index) => ({ basePath: `/p${index}` })) });
    const { hostnames, rules } = only(byPath, 'HTTPRoute').spec;
    expect(hostnames).toBeUndefined();
    expect(rules[0].matches).toEqual([{ path: { type: 'PathPrefix', value: '/' } }]);
  });
});

describe('helm test', () => {
  it('requests each site at its host and path, and expects 404 for a site that is off', () => {
    const off = { domain: 'dark', basePath: '/dark', staticExport: { enabled: false } };
    const { command } = only(rendered({ sites: [...TWELVE.slice(3, 5), off] }), 'Pod').spec.containers[0];
    expect(command.slice(-4)).toEqual([
      'http://docshelf.docs.svc:80',
      '200 / site-3.acme.dev',
      '200 /site-4/ docs.acme.dev',
      '404 /dark/ ',
    ]);
  });
});

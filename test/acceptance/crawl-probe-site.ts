import { type Origin, type OriginFile, originOf } from '../crawl/origin.ts';
import { markedBody, markOf, type Probe, slugOf, typeOfName } from './crawl-probe.ts';

/** The live site of the probes, and the other origin that its pages load from. */
export interface ProbeSite {
  readonly site: Origin;
  readonly cdn: Origin;
  /** Files of the site besides, by path. */
  add(extra: Readonly<Record<string, OriginFile>>): void;
  close(): Promise<void>;
}

/** Where a probe's page is. */
export const pageOf = (name: string): string => `/probe/${slugOf(name)}`;

export async function startProbeSite(probes: readonly Probe[]): Promise<ProbeSite> {
  const files = { site: {} as Record<string, OriginFile>, cdn: {} as Record<string, OriginFile> };
  const site = await originOf(files.site);
  const cdn = await originOf(files.cdn);
  const origins = { site: site.origin, cdn: cdn.origin };
  for (const probe of probes) addProbe(probe, origins, files);
  const links = probes.map(({ name }) => `<li><a href="${pageOf(name)}">${slugOf(name)}</a></li>`);
  files.site['/'] = `<!doctype html><title>Probes</title><ul>${links.join('\n')}</ul>`;
  return {
    site,
    cdn,
    add: (extra) => {
      for (const [path, file] of Object.entries(extra)) files.site[path] = filled(file, '/', origins);
    },
    close: async () => {
      await site.close();
      await cdn.close();
    },
  };
}

type Origins = { readonly site: string; readonly cdn: string };

function addProbe(probe: Probe, origins: Origins, files: Record<'site' | 'cdn', Record<string, OriginFile>>): void {
  const folder = `/f/${slugOf(probe.name)}`;
  const put = (name: string, file: OriginFile): void => {
    const isCdn = name.startsWith('c:');
    const own = isCdn ? name.slice(2) : name;
    const path = own.startsWith('/') ? own : `${folder}/${own}`;
    const [answered] = [typeof file === 'string' ? { type: typeOfName(own), body: file } : file];
    files[isCdn ? 'cdn' : 'site'][path] = filled(answered, folder, origins);
  };
  const page = typeof probe.page === 'string' ? { type: 'text/html', body: probe.page } : probe.page;
  files.site[pageOf(probe.name)] = filled(page, folder, origins);
  for (const [name, file] of Object.entries(probe.files ?? {})) put(name, file);
  if (probe.marked === null) return;
  const { type = typeOfName(probe.marked), headers = {} } = probe.answer ?? {};
  put(probe.marked, { type, headers, body: markedBody(type, markOf(probe.name)) });
}

/** With its places filled in. */
function filled(file: OriginFile, folder: string, { site, cdn }: Origins): OriginFile {
  const fill = (text: string): string =>
    text
      .replaceAll('{d}', folder)
      .replaceAll('{c}', cdn + folder)
      .replaceAll('{sitehost}', new URL(site).host)
      .replaceAll('{cdnhost}', new URL(cdn).host)
      .replaceAll('{site}', site)
      .replaceAll('{cdn}', cdn);
  if (typeof file === 'function') return file;
  const { body = '', headers = {}, ...rest } = typeof file === 'string' ? { body: file } : file;
  const filledHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)]));
  return { ...rest, headers: filledHeaders, body: typeof body === 'string' ? fill(body) : body };
}

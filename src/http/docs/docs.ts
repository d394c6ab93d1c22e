import type { Env, Hono } from 'hono';
import type { Described } from '../../domain/operation.ts';
import { escapeHtml } from '../../web/escape.ts';
import type { Content, OpenApiDocument } from '../openapi.ts';
import { answerAsset, BASE_STYLE, ownAsset } from '../own-asset.ts';
import { refuseMethod } from '../routes.ts';

const PAGE = '/docs';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function addDocs<E extends Env>(app: Hono<E>, document: () => OpenApiDocument): void {
  const css = ownAsset(new URL('assets/docs.css', import.meta.url), BASE_STYLE);
  const js = ownAsset(new URL('assets/docs.js', import.meta.url));

  app.get(PAGE, (c) => {
    c.header('Content-Security-Policy', POLICY);
    c.header('Referrer-Policy', 'no-referrer');
    c.header('Cache-Control', 'no-cache');
    const files = { css: `docs/${css.name}`, js: `docs/${js.name}` };
    return c.html(docsPage(document(), files));
  });
  app.all(PAGE, refuseMethod('GET, HEAD'));
  app.get(`${PAGE}/:name`, (c) => {
    const found = [css, js].find(({ name }) => name === c.req.param('name'));
    return found === undefined ? c.notFound() : answerAsset(found, c.req.header('accept-encoding'));
  });
}

/** API reference page. Its script only adds forms to send calls. Relative addresses work behind a proxy with a path. */
function docsPage(document: OpenApiDocument, files: Readonly<Record<'css' | 'js', string>>): string {
  const { info, tags, components } = document;
  const calls = callsOf(document);
  const groups = tags.map((tag) => ({
    ...tag,
    calls: calls.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const title = escapeHtml(info.title);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${files.css}">
<script type="module" src="${files.js}"></script>
</head>
<body>
<header>
<h1>${title} <small>${escapeHtml(info.version)}</small></h1>
<p>${prose(info.description)}</p>
<p>For programs: <a href="openapi.json">openapi.json</a></p>
</header>
<div class="frame">
<nav aria-label="Calls">
${groups.map(({ name, calls: inside }) => `<h2>${escapeHtml(name)}</h2>\n<ul>\n${inside.map(callLink).join('')}</ul>\n`).join('')}</nav>
<main>
${keysSection(components.securitySchemes)}${groups
  .map(
    ({ name, description, calls: inside }) =>
      `<section class="group">\n<h2>${escapeHtml(name)}</h2>\n<p>${prose(description)}</p>\n${inside.map((call) => callSection(call, document)).join('')}</section>\n`,
  )
  .join('')}</main>
</div>
</body>
</html>
`;
}

function callsOf({ paths }: OpenApiDocument) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

function prose(text: string): string {
  return escapeHtml(text).replaceAll(
    /`([^`]+)`/g,
    (_, name: string) => `<code${name.includes(' ') ? '' : ' class="name"'}>${name}</code>`,
  );
}

const callLink = ({ method, operation: { operationId, summary } }: DescribedCall): string =>
  `<li><a href="#${operationId}">${methodBadge(method)} <span>${escapeHtml(summary)}</span></a></li>\n`;

const methodBadge = (method: string): string => `<b class="badge ${method.toLowerCase()}">${method}</b>`;

const pathParts = (path: string): string =>
  path
    .split(/(?=\/)/)
    .map((part) => `<span>${escapeHtml(part)}</span>`)
    .join('');

function keysSection(schemes: OpenApiDocument['components']['securitySchemes']): string {
  const fields = Object.entries(schemes).map(
    ([name, { description }]) =>
      `<div class="field"><label for="${name}">${name}</label><p id="${name}-help">${prose(description)}</p>
<input id="${name}" type="password" autocomplete="off" spellcheck="false" aria-describedby="${name}-help" data-scripted hidden></div>\n`,
  );
  if (fields.length === 0) return '';
  return `<section id="keys">
<h2>Keys</h2>
<p>Sent as <code>Authorization: Bearer …</code>. <span data-scripted hidden>Keys that you type stay in this page until you close it.</span></p>
${fields.join('')}</section>
`;
}

function callSection({ method, path, operation }: DescribedCall, document: OpenApiDocument): string {
  const { operationId: id, summary, description, parameters = [], requestBody, responses } = operation;
  const key = Object.keys(operation.security?.[0] ?? {})[0] ?? null;
  const call = { method, path, operation };
  const curl = curlLine(call, document.servers[0]?.url ?? '/', key !== null);
  const body = bodyFields(requestBody, document);
  const given = parameters.map(({ schema = {}, description = '', ...rest }) => {
    return { ...rest, description, type: typeOf(schema) };
  });
  return `<section class="call" id="${id}" aria-labelledby="about-${id}">
<h3 id="about-${id}">${escapeHtml(summary)}</h3>
<p class="address">${methodBadge(method)} <code>${pathParts(path)}</code></p>
${description === undefined ? '' : `<p>${prose(description)}</p>\n`}<div class="sides">
<div>
<h4>Request</h4>
<p class="key">${key === null ? 'Needs no key.' : `Needs a key: <a href="#${key}">${key}</a>.`}</p>
${fieldList('Parameters', given.map(parameterRow))}${fieldList('Body', body.map(parameterRow))}<h5>With curl</h5>
<pre tabindex="0"><code data-curl>${escapeHtml(curl)}</code></pre>
${tryForm(call, key)}</div>
<div>
<h4>Response</h4>
<dl>
${Object.entries(responses)
  .map(([status, answer]) => answerRow(status, answer))
  .join('')}</dl>
</div>
</div>
</section>
`;
}

function parameterRow({ name, type, required, description }: ShownParameter): string {
  const kind = [type, required ? 'required' : ''].filter((word) => word !== '').join(', ');
  return `<dt><code class="name">${escapeHtml(name)}</code> <span>${escapeHtml(kind)}</span></dt>\n<dd>${prose(description)}</dd>\n`;
}

const fieldList = (heading: string, rows: readonly string[]): string =>
  rows.length === 0 ? '' : `<h5>${heading}</h5>\n<dl>\n${rows.join('')}</dl>\n`;

const json = (value: unknown): string => escapeHtml(JSON.stringify(value, null, 2));

function answerRow(status: string, answer: DescribedCall['operation']['responses'][string]): string {
  const example = exampleOf(answer);
  const isSuccess = status.startsWith('2');
  const shown =
    example === undefined
      ? ''
      : `<details${isSuccess ? ' open' : ''}><summary>Example of ${status}</summary><pre tabindex="0"><code>${json(example)}</code></pre></details>`;
  return `<dt><b class="badge${isSuccess ? ' get' : ''}">${status}</b></dt>\n<dd>${prose(answer.description)}${shown}</dd>\n`;
}

function tryForm({ method, path, operation }: DescribedCall, key: string | null): string {
  const { operationId: id, summary, parameters = [], requestBody } = operation;
  const inputs = parameters.map(({ name, in: place, required, ...rest }) => {
    const value = place === 'path' ? String(exampleOf(rest) ?? '') : '';
    return `<div class="field"><label for="${id}-${name}">${escapeHtml(name)}</label><input id="${id}-${name}" name="${name}" data-in="${place}" value="${escapeHtml(value)}"${required ? ' required' : ''} autocomplete="off" spellcheck="false"></div>\n`;
  });
  const type = Object.keys(requestBody?.content ?? {})[0];
  const body =
    type === undefined
      ? ''
      : type === 'application/json'
        ? `<div class="field"><label for="${id}-body">Body</label><textarea id="${id}-body" name="body" rows="8" spellcheck="false">${json(exampleOf(requestBody ?? {}) ?? {})}</textarea></div>\n`
        : `<div class="field"><label for="${id}-body">File</label><input id="${id}-body" name="body" type="file" required></div>\n`;
  return `<form aria-label="Try: ${escapeHtml(summary)}" data-method="${method}" data-path="${escapeHtml(path)}"${type === undefined ? '' : ` data-type="${type}"`}${key === null ? '' : ` data-key="${key}"`} data-scripted hidden>
<h5>Try it</h5>
${inputs.join('')}${body}<button>Send</button> <output></output>
<pre tabindex="0" hidden></pre>
</form>
`;
}

type DescribedCall = ReturnType<typeof callsOf>[number];

interface Exemplified extends Partial<Described> {
  readonly content?: Content;
}

interface ShownSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, ShownSchema>>;
  readonly required?: readonly string[];
}

interface ShownParameter {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

function exampleOf({ example, examples, content }: Exemplified): unknown {
  const own = example ?? Object.values(examples ?? {})[0]?.value;
  const [first] = Object.values(content ?? {});
  return own ?? (first === undefined ? undefined : exampleOf(first));
}

function bodyFields(described: Exemplified | undefined, { components }: OpenApiDocument): ShownParameter[] {
  const [first] = Object.values(described?.content ?? {});
  const written: ShownSchema | undefined = first?.schema;
  const schema: ShownSchema | undefined = components.schemas[written?.$ref?.split('/').at(-1) ?? ''] ?? written;
  if (schema?.properties === undefined) return [];
  return Object.entries(schema.properties).map(([name, field]) => ({
    name,
    type: typeOf(field),
    required: schema.required?.includes(name) ?? false,
    description: field.description ?? '',
  }));
}

function typeOf({ type, enum: values, const: only }: ShownSchema): string {
  if (only !== undefined) return JSON.stringify(only);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' or ');
  return typeof type === 'string' ? type : (type ?? []).join(' or ');
}

/** Placeholder for the unknown address of the daemon, which the script of the page replaces. */
const SERVER = '$DOCSHELF_URL';

function curlLine({ method, path, operation }: DescribedCall, server: string, hasKey: boolean): string {
  const { parameters = [], requestBody } = operation;
  const filled = path.replaceAll(/\{(\w+)\}/g, (written, name: string) => {
    const parameter = parameters.find((each) => each.name === name);
    return encodeURIComponent(String((parameter && exampleOf(parameter)) ?? written));
  });
  const [type] = Object.keys(requestBody?.content ?? {});
  const sent =
    type === 'application/json' ? `-d ${quoted(JSON.stringify(exampleOf(requestBody ?? {}) ?? {}))}` : '-T FILE';
  const parts = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} "${server === '/' ? SERVER : server.replace(/\/$/, '')}${filled}"`,
    ...(hasKey ? ['-H "Authorization: Bearer $KEY"'] : []),
    ...(type === undefined ? [] : [`-H "Content-Type: ${type}"`, sent]),
  ];
  return parts.join(' \\\n  ');
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

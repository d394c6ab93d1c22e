import { Type } from 'typebox';
import {
  configSchemaOfChart,
  fileKeys,
  type Schema,
  secretKeys,
  sectionSchemaOfChart,
  siteSchemaOfChart,
} from './config-schema.ts';
import { exportApi, kubernetes, nameAndKey } from './kubernetes-values.ts';

const strict = { additionalProperties: false };

/** A value that may be left empty in a values file. */
const orEmpty = (schema: Schema | undefined): Schema => {
  const { description, ...rest } = schema ?? {};
  return { description, anyOf: [{ const: '' }, rest] };
};

function staticExport(section: Readonly<Record<string, Schema>>): Schema {
  // The chart itself says where the link's file is.
  const { bundleUrlFile: _, ...properties } = section;
  const { description, ...version } = properties.version ?? {};
  return {
    type: 'object',
    description: 'The bundle that is served.',
    ...strict,
    properties: {
      ...properties,
      bundleUrl: orEmpty(properties.bundleUrl),
      sha256: orEmpty(properties.sha256),
      // --set makes a number of a version of digits.
      version: { description, anyOf: [{ const: '' }, { ...version, type: 'string' }, { type: 'integer', minimum: 0 }] },
      existingSecret: Type.Object(
        {
          name: Type.Optional(Type.String({ description: 'Name of the Secret.' })),
          key: Type.Optional(Type.String({ minLength: 1, description: 'The key in it that holds the link.' })),
          expires: Type.Optional(
            Type.Boolean({ description: 'Whether the link in it expires, as a presigned one does.' }),
          ),
        },
        { ...strict, description: 'A Secret that holds the link to the bundle, in place of bundleUrl.' },
      ),
    },
  };
}

/** Keys that only a site of a list has from files: an entry has no environment variable that names one. */
const SITE_FILES = [...fileKeys('site'), 'staticExport.signature.publicKeys'];

function sites(): Schema {
  const { domain, properties } = siteSchemaOfChart();
  const { staticExport: section, ...rest } = properties;
  return {
    type: 'array',
    description:
      "Several sites, in place of deployment.domain and staticExport: entries of docshelf's own sites, each with staticExport as above (enabled unless it says otherwise), fromSecret and fromConfigMap. Their hosts and base paths are led to them by ingress and httpRoute.",
    items: {
      type: 'object',
      required: ['domain'],
      ...strict,
      properties: {
        domain,
        ...rest,
        staticExport: staticExport((section?.properties ?? {}) as Record<string, Schema>),
        fromSecret: out('Secrets', SITE_FILES),
        fromConfigMap: out('ConfigMaps', SITE_FILES),
      },
    },
  };
}

function deployment(): Schema {
  const { domain, ...properties } = sectionSchemaOfChart('deployment').properties;
  return {
    type: 'object',
    description: 'This running daemon.',
    ...strict,
    properties: { ...properties, domain: orEmpty(domain) },
  };
}

function config(): Schema {
  const schema = configSchemaOfChart();
  const { $id: _id, title: _title, properties, ...rest } = schema;
  const reload = {
    enum: ['hot', 'restart'],
    description: 'hot: the running pods pick a change up. restart: a change replaces them.',
  };
  return {
    ...rest,
    description: "The rest of docshelf's config.",
    properties: { reload, ...(properties as Schema) },
  };
}

/** Settings by config key, out of objects of the cluster. */
const out = (of: string, keys: readonly string[]): Schema => ({
  type: 'object',
  description: `Settings out of ${of} of yours, by config key: ${keys.map((key) => `\`${key}\``).join(', ')}.`,
  ...strict,
  properties: Object.fromEntries(keys.map((key) => [key, nameAndKey])),
});

/** Of every setting of the chart what it may be: docshelf's own by the schema of its config, the others by Kubernetes'. */
export function valuesSchema(): Schema {
  const fromSecret = [...secretKeys().filter((key) => key !== 'staticExport.bundleUrl'), ...fileKeys()];
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the docshelf chart',
    type: 'object',
    ...strict,
    properties: {
      deployment: deployment(),
      staticExport: staticExport(sectionSchemaOfChart('staticExport').properties),
      sites: sites(),
      config: config(),
      fromSecret: out('Secrets', fromSecret),
      fromConfigMap: out('ConfigMaps', fileKeys()),
      exportApi,
      ...kubernetes,
    },
  };
}

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
import { addOtherNames } from './other-names.ts';

const strict = { additionalProperties: false };

/** Schema of a value that may be empty in a values file. */
const orEmpty = (schema: Schema | undefined): Schema => {
  const { description, ...rest } = schema ?? {};
  return { description, anyOf: [{ const: '' }, rest] };
};

function staticExport(section: Readonly<Record<string, Schema>>): Schema {
  // Omit the path of the link's file, which the chart itself sets.
  const { bundleUrlFile: _, ...properties } = section;
  const { description, ...version } = properties.version ?? {};
  const { minVersion } = properties;
  return {
    type: 'object',
    description: 'Bundle that docshelf serves.',
    ...strict,
    properties: {
      ...properties,
      bundleUrl: orEmpty(properties.bundleUrl),
      sha256: orEmpty(properties.sha256),
      // Allow a number, because --set converts a version of digits. The chart rejects other numbers with its own message.
      version: { description, anyOf: [{ const: '' }, { ...version, type: 'string' }, { type: 'number', minimum: 0 }] },
      minVersion: { ...minVersion, type: ['string', 'number'] },
      existingSecret: Type.Object(
        {
          name: Type.Optional(Type.String({ description: 'Name of the Secret.' })),
          key: Type.Optional(Type.String({ minLength: 1, description: 'Key of the link in the Secret.' })),
          expires: Type.Optional(Type.Boolean({ description: 'true if the link expires, as a presigned link does.' })),
        },
        { ...strict, description: 'Secret with the link to the bundle, instead of bundleUrl.' },
      ),
    },
  };
}

/** Keys whose files only a site of a list reads, because no environment variable can name a file for such a site. */
const SITE_FILES = [...fileKeys('site'), 'staticExport.signature.publicKeys'];

function sites(): Schema {
  const { domain, properties } = siteSchemaOfChart();
  const { staticExport: section, ...rest } = properties;
  return {
    type: 'array',
    description:
      "Several sites, instead of deployment.domain and staticExport. An entry has the keys of sites in docshelf's config, staticExport as in this chart, fromSecret, and fromConfigMap. ingress and httpRoute route the hosts of each entry.",
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
    description: 'Type and domain of the daemon.',
    ...strict,
    properties: { ...properties, domain: orEmpty(domain) },
  };
}

function config(): Schema {
  const schema = configSchemaOfChart();
  const { $id: _id, title: _title, properties, ...rest } = schema;
  const reload = {
    enum: ['hot', 'restart'],
    description: 'hot: the running pods reload a changed config. restart: a change replaces the pods.',
  };
  return {
    ...rest,
    description: "All other keys of docshelf's config.",
    properties: { reload, ...(properties as Schema) },
  };
}

/** Schema of settings, by config key, whose values are in objects of the cluster. */
const out = (of: string, keys: readonly string[]): Schema => ({
  type: 'object',
  description: `Settings from your ${of}, by config key: ${keys.map((key) => `\`${key}\``).join(', ')}.`,
  ...strict,
  properties: Object.fromEntries(keys.map((key) => [key, nameAndKey])),
});

/** Schema of all values. Settings of docshelf use the schema of its config, and the other values use the schema of Kubernetes. */
export function valuesSchema(): Schema {
  const fromSecret = [...secretKeys().filter((key) => key !== 'staticExport.bundleUrl'), ...fileKeys()];
  const schema: Schema = structuredClone({
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
  });
  addOtherNames(schema);
  return schema;
}

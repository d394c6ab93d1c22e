import { describe, expect, test } from 'vitest';
import { isLinkLike, LINK_SCHEMES, parseOciReference, parseS3Link } from '../../src/domain/bundle-link.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;

describe('parseOciReference()', () => {
  test.each([
    ['oci://registry.example/docs/acme:2024-06-01', 'registry.example', 'docs/acme', '2024-06-01', null],
    ['oci://Registry.Example:5000/acme:v1.2.3', 'registry.example:5000', 'acme', 'v1.2.3', null],
    [`oci://[::1]:5000/a/b__c/d-e@${DIGEST}`, '[::1]:5000', 'a/b__c/d-e', null, DIGEST],
  ])('parses the valid link %s', (link, registry, repository, tag, digest) => {
    expect(parseOciReference(link)).toEqual({ registry, repository, tag, digest });
  });

  test.each([
    'oci://registry.example/docs/acme',
    'oci://registry.example:2024',
    'oci://registry.example/Docs:1',
    'oci://registry.example/../docs:1',
    'oci://registry.example/docs:1?x=1',
    'oci://user:password@registry.example/docs:1',
    'oci://registry.example/docs@sha256:abc',
    'https://registry.example/docs:1',
    `oci://registry.example/${'a/'.repeat(600)}a:1`,
  ])('rejects the invalid link %s', (link) => {
    expect(parseOciReference(link)).toBeNull();
  });
});

describe('parseS3Link()', () => {
  test.each([
    ['s3://bundles/acme.tar.gz', 'bundles', 'acme.tar.gz'],
    ['s3://docs.acme.dev/a//b c/ä%20+.zip', 'docs.acme.dev', 'a//b c/ä%20+.zip'],
    ['s3://Old_Bucket/a', 'Old_Bucket', 'a'],
  ])('parses the valid link %s', (link, bucket, key) => {
    expect(parseS3Link(link)).toEqual({ bucket, key });
  });

  test.each([
    's3://bundles',
    's3://bundles/',
    's3:///acme.zip',
    's3://key:secret@bundles/a',
    's3://bundles/a?versionId=1',
    's3://bundles/a#b',
    's3://bundles/a/../b',
    's3://bundles/./a',
    's3://bundles/a\nb',
    'https://bundles/a',
    `s3://bundles/${'ä'.repeat(513)}`,
  ])('rejects the invalid link %s', (link) => {
    expect(parseS3Link(link)).toBeNull();
  });
});

describe('isLinkLike()', () => {
  test.each([...Object.keys(LINK_SCHEMES).map((scheme) => `${scheme}:bundle.zip`), 'ftp://host.example/a'])(
    'accepts the link %s',
    (link) => {
      expect(isLinkLike(link)).toBe(true);
    },
  );

  test.each(['bundle.zip', './oci:bundle.zip', 'C:\\bundle.zip', 'acme:v1.zip'])('rejects the file name %s', (name) => {
    expect(isLinkLike(name)).toBe(false);
  });
});

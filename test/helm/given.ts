import type { VolumeFiles } from './pod-folders.ts';

const DIGEST = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const organizations = `
organizations:
  - id: acme
    plan: enterprise
    domains: { acme: { source: { kind: folder, path: /sites/acme } } }
    keys: [{ id: ci, type: admin, sha256: ${DIGEST} }]
`;
const link = 'https://storage.example/acme-export-2026-11-01.tar.gz?signature=canary-7f3a';

/** Secrets and ConfigMaps that the values of tests and examples name. */
export const GIVEN: VolumeFiles = {
  'docs-organizations': { 'organizations.yaml': organizations },
  'acme-bundle-link': { url: link, bundleUrl: link },
  'handbook-bundle-link': { bundleUrl: link },
  'docs-users': { users: 'anna:$2y$04$Nuq.jlV0goywBMrqjGx.LOsLa4Ecagy1IAw9MYcsF2wmiJv43N9ba' },
  'docs-signing': { 'minisign.key': 'untrusted comment: a key' },
  '0123': { 1: link },
  link: { url: link },
  renew: { key: 'svc_example' },
  'docs-renew': { key: 'svc_example' },
  'docs-export-key': { key: 'svc_example' },
  'docs-search': { key: 'svc_dsc_example' },
  'docs-signing-key': { 'minisign.key': 'untrusted comment: a key' },
  'docs-database': { url: 'postgres://docshelf:hidden-word@10.0.0.7/docs' },
  'docs-bucket': { accessKeyId: 'AK', secretAccessKey: 'SK' },
  admin: { token: 'a-long-random-text' },
  'internal-ca': { 'ca.crt': '-----BEGIN CERTIFICATE-----' },
};

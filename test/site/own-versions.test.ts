import { expect, it } from 'vitest';
import { ownVersions } from '../../src/files/index.ts';
import { releases } from './helpers.ts';

const PAGE = '<!doctype html><title>a</title>';
const pages = (...paths: string[]) => Object.fromEntries(paths.map((path) => [path, PAGE]));
const below = (folder: string) =>
  pages(...['index.html', 'intro.html', 'keys/index.html'].map((path) => folder + path));
const mike = (...versions: unknown[]) => ({
  'versions.json': JSON.stringify(versions.map((version) => ({ version, title: version, aliases: [] }))),
});

it.each([
  [
    'Docusaurus, with a current version and the version "next"',
    { ...below('docs/'), ...below('docs/next/') },
    ['docs/next/'],
  ],
  ['Docusaurus at the root, in French', { ...below('fr/'), ...below('fr/2.x/') }, ['fr/2.x/']],
  ['mike', { ...pages('1.0/index.html', 'dev/index.html'), ...mike('dev', '1.0') }, ['dev/', '1.0/']],
  ['Read the Docs', { ...below('en/latest/'), ...below('en/v1.2/') }, ['en/latest/', 'en/v1.2/']],
  ['one folder per version', { ...below('15/'), ...below('16/') }, ['15/', '16/']],
])('ownVersions() finds the versions in a bundle: %s', async (_name, files, folders) => {
  expect(await ownVersions(releases.make({ ...pages('index.html'), ...files }))).toEqual(folders);
});

it.each([
  ['a single version', below('en/latest/')],
  ['years of a blog', { ...below('2023/'), ...below('2024/') }],
  [
    'folders with other pages',
    { ...below('docs/'), ...pages('docs/next/index.html', 'docs/next/a.html', 'docs/next/b.html') },
  ],
  ['only start pages', pages('1/index.html', '2/index.html')],
  ['a list with one version', { ...pages('1.0/index.html'), ...mike('1.0', '2.0') }],
  ['an invalid list', { ...pages('1.0/index.html'), 'versions.json': '{"a":' }],
  ['a list without version names', mike(null, 1, '../..')],
  ['an empty folder', {}],
])('ownVersions() finds no versions in %s', async (_name, files) => {
  expect(await ownVersions(releases.make({ ...pages('index.html'), ...files }))).toEqual([]);
});

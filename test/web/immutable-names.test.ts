import { describe, expect, it } from 'vitest';
import { ImmutableNames } from '../../src/web/immutable-names.ts';

const namesOf = (...paths: string[]) =>
  new ImmutableNames({
    namesIn: (folder) =>
      paths
        .filter((path) => path.startsWith(folder) && !path.includes('/', folder.length))
        .map((path) => path.slice(folder.length)),
  });

const immutableOf = (paths: readonly string[]) => {
  const names = namesOf(...paths);
  return paths.filter((path) => names.has(path));
};

describe('ImmutableNames, judging by the name only', () => {
  it.each([
    ['styles.5b0e4cfb.css', 'Docusaurus'],
    ['assets/images/docsVersionDropdown-35e13cbe46c9923327f30a76a90bff3b.png', 'Docusaurus'],
    ['assets/js/01a85c17.40ee7edd.js', 'Docusaurus, the route first'],
    ['img/logo-35E13CBE46C9.png', 'uppercase hex'],
    ['font_a1b2c3d4.woff2', 'after an underscore'],
    ['0c5c47ac3b2e8d6f.js', 'webpack, the whole stem'],
    ['static/js/main.1a2b3c4d.chunk.js', 'webpack'],
    ['static/js/main.1a2b3c4d.js.map', 'a map of a hashed file'],
    ['static/media/logo.6ce24c58023cc2f8fd88fe9d219db6c6.svg', 'webpack, 32 digits'],
    ['css/base.27e20196a850.css', 'Django'],
    ['assets/application-908e25f4bf641868d8683022a5b62f54b1b4ad0a.css', 'Sprockets'],
    ['assets/app.C03MqXtg.lean.js', 'Rollup'],
    ['assets/app-Dk3JxaBq.js', 'Vite'],
    ['assets/es_search.md.BC0T6_x2.js', 'Rollup, with an underscore'],
    ['assets/es_search.md.B-0Tx62a.js', 'Rollup, with a dash'],
    ['assets/guide_frontmatter.md.DqbFycal.js', 'VitePress, letters alone'],
    ['chunk-7L2VM4XO.js', 'esbuild'],
    ['css/main.min.0fe48ade5c2f1b7d9d3ba51f4bdc8f4b2f4a9d2a7f6c1e3b5d7f9a1c3e5f7a9b.css', 'Hugo'],
    ['posts/photo_hu6d1f1e4b7c2a9f0e3d5b8c7a6f9e0d1c_12345_300x200_fit_q75.jpg', 'Hugo, a picture'],
    ['posts/photo_hu_1a2b3c4d5e6f7a8b.webp', 'Hugo 0.140, a picture'],
    ['posts/photo_hu15210517121918042184.jpg', 'Hugo 0.130, a picture'],
    ['_images/inheritance-1caee545bc016bf9545d78116ba2be0d6321ca99.png.map', 'Sphinx'],
    ['_images/graphviz-0a1b2c3d4e5f60718293a4b5c6d7e8f901234567.svg', 'Sphinx'],
    ['assets/stylesheets/main.35e1ed30.min.css', 'Material for MkDocs'],
    ['assets/javascripts/workers/search.f8cc74c7.min.js', 'Material for MkDocs'],
    ['fonts/open-sans-v17-all-charsets-300-7736aa35.woff2', 'mdBook'],
    ['site_libs/bootstrap/bootstrap-c5aae5b8f4d0c5b2a4cd9d3b8a1f7e26.min.css', 'Quarto'],
    ['pagefind/fragment/zh-cn_5f37b3a.pf_fragment', 'Pagefind'],
    ['pagefind/pagefind.en_bd7db4a558.pf_meta', 'Pagefind'],
    ['a1b2c3d4', 'no extension'],
  ])('treats %s as an immutable file name: %s', (path) => {
    expect(namesOf().has(path)).toBe(true);
  });

  it.each([
    ['introduction.js', 'a word'],
    ['x-introduction.css', 'a word after a dash'],
    ['app.js', 'no hash'],
    ['report-20240601.pdf', 'a date'],
    ['report-20240601a.pdf', 'a date with a letter'],
    ['20240601.js', 'a date alone'],
    ['archive-2024-06-01.js', 'a date with dashes'],
    ['jquery-3.7.1.min.js', 'a version'],
    ['swagger-ui-5.17.14.js', 'a version'],
    ['cafe-deadbeef.js', 'hex letters'],
    ['facade01.svg', 'a word of hex letters, and a number'],
    ['cafe2024.png', 'a word of hex letters, and a year'],
    ['a.5b0e4cf.js', 'seven digits'],
    ['app.CKgyzEfF.js', 'no digit'],
    ['app.ckgyz3ff.js', 'neither hex nor both cases'],
    ['Screenshot2024.png', 'a word and a year'],
    ['GettingStarted2.png', 'words and a number'],
    ['OAuth2Ui.svg', 'a name in mixed case'],
    ['iPhone12.png', 'a name in mixed case'],
    ['Chapter1Intro.png', 'words and a number'],
    ['step-1-Overview2.png', 'words and numbers'],
    ['v1.Getting-Started-2.png', 'words with dashes between dots'],
    ['HANDBOOK2.png', 'capitals'],
    ['img-1920x1080.png', 'a size'],
    ['figure-00012345.png', 'a number'],
    ['call-0123456789.vcf', 'a long number'],
    ['3f2504e0-4f89-11d3-9a0c-0305e82c3301.png', 'a UUID'],
    ['Page-3f2504e0-4f89-11d3-9a0c-0305e82c3301.png', 'a UUID behind a word'],
    ['dir_68267d1309a1af8e8297ef4c3efbcdba.js', 'Doxygen: of the folder’s path'],
    ['dir_68267d1309a1af8e8297ef4c3efbcdba_dep.svg', 'Doxygen: of the folder’s path'],
    ['classfoo_a8c5b5f1d2e3f4a5b6c7d8e9f0a1b2c3d_cgraph.svg', 'Doxygen: of the signature'],
    ['5b0e4cfb/app.js', 'a digest of the folder only'],
    ['styles.5b0e4cfb.html', 'a page'],
    ['_next/static/index.XHTML', 'a page in capitals'],
    ['xx5b0e4cfbyy.js', 'a hash within a word'],
    ['', 'an empty path'],
  ])('does not treat %s as an immutable file name: %s', (path) => {
    expect(namesOf().has(path)).toBe(false);
  });
});

describe('ImmutableNames, judging by the folder of the generator', () => {
  it.each([
    ['_next/static/chunks/0cz1d0mv5g_q7.js', 'Next.js'],
    ['_next/static/-a0j4gsoGh7I3Ja_DXvW5/_buildManifest.js', 'Next.js'],
    ['docs/_next/static/media/icon.3574dlua3odn_.svg', 'Next.js below a base path'],
    ['_astro/ec.0vx5m.js', 'Astro'],
    ['_nuxt/entry.js', 'Nuxt'],
    ['_nuxt/builds/meta/6f1e.json', 'Nuxt'],
    ['_app/immutable/entry/start.js', 'SvelteKit'],
    ['static.files/main.js', 'rustdoc'],
    ['static/d2d31ab3031be1a3b5e5a0b5b0b1b5aa/4b190/shore.jpg', 'Gatsby'],
    ['assets/chunks/theme.DEAJXAez.js', 'VitePress'],
  ])('treats %s as an immutable file name: %s', (path) => {
    expect(namesOf().has(path)).toBe(true);
  });

  it.each([
    '_next/data/x.json',
    'x_next/static/app.js',
    '_nuxt/builds/latest.json',
    '_app/version.json',
    'static/app.js',
    'static/d2d31ab3/shore.jpg',
    'assets/chunks/readme.js',
    'pagefind/pagefind.js',
    'pagefind/pagefind-entry.json',
  ])('does not treat %s as an immutable file name', (path) => {
    expect(namesOf().has(path)).toBe(false);
  });
});

describe('ImmutableNames, judging by the other names in the folder', () => {
  it.each<[string, string[]]>([
    ['Vite', ['index-Dk3JxaBq.js', 'app-C03MqXtg.js', 'a-B1x_T6pQ.js', 'vendor-CKgyzEfF.js', 'index-zluDL-SY.css']],
    ['esbuild', ['chunk-7L2VM4XO.js', 'chunk-2B3CD5EF.js', 'main-K2L3M4NP.js', 'styles-5INURTSO.css']],
    [
      'rustdoc',
      ['a-0fe48ade.woff2', 'b-9960930a.css', 'c-1b2c3d4e.js', 'f-7736aa35.js', 'd-12345678.svg', 'e-e6652087.js'],
    ],
    ['MkDocs', ['main.35e1ed30.min.css', 'palette.06af60db.min.css', 'x.1b2c3d4e.css', 'main.06209087.min.css.map']],
  ])('treats all hashed names of %s as immutable', (_, names) => {
    const paths = names.map((name) => `assets/${name}`);
    expect(immutableOf(paths)).toEqual(paths);
  });

  it('does not treat a name without a hash, such as my-darkMode.js, as immutable in a folder of hashed names', () => {
    const hashed = ['index-Dk3JxaBq.js', 'app-C03MqXtg.js', 'vendor-B1x_T6pQ.js', 'x-CKgyzEfF.js', 'y-D6M2pbQd.css'];
    const plain = ['my-language.js', 'my-Language.js', 'my-darkMode.js', 'my-20240601.js', 'my-chapter1.js', 'init.js'];
    const paths = [...hashed, ...plain.slice(0, 5)];
    expect(immutableOf(paths)).toEqual(hashed);
    expect(immutableOf([...hashed, 'init.js'])).toEqual(hashed);
  });

  it('treats uncertain names as immutable only if most names in the folder have a hash, and several names certainly have a hash', () => {
    expect(immutableOf(['index-Dk3JxaBq.js', 'vendor-CKgyzEfF.js'])).toEqual(['index-Dk3JxaBq.js']);
    const plain = ['a.js', 'b.js', 'c.js', 'd.js', 'e.js', 'f.js'];
    const sure = ['index-Dk3JxaBq.js', 'app-C03MqXtg.js', 'vendor-B1x_T6pQ.js'];
    expect(immutableOf([...plain, ...sure, 'x-CKgyzEfF.js'])).toEqual(sure);
  });

  it('does not treat data, documents and pages in a folder of hashed names as immutable', () => {
    const hashed = ['a.5b0e4cfb.js', 'b.9960930a.js', 'c.1b2c3d4e.js', 'd.35e1ed30.js'];
    expect(immutableOf([...hashed, 'e.12345678.json', 'f.12345678.html', 'g.12345678.js'])).toEqual([
      ...hashed,
      'g.12345678.js',
    ]);
  });

  it('reads the names of a folder only once', () => {
    let looks = 0;
    const names = new ImmutableNames({
      namesIn: () => {
        looks += 1;
        return Array.from({ length: 1024 }, (_, n) => `${'-a.'.repeat(80)}${'-a'.repeat(80)}${n}.js`);
      },
    });
    for (let n = 0; n < 100; n++) names.has(`assets/x${n}.js`);
    expect(looks).toBe(1);
  });
});

import { type DefaultTreeAdapterTypes, parse, Tokenizer, TokenizerMode } from 'parse5';
import { decodeReferences } from '../../../src/web/rewrite/markup/character-references.ts';
import { RAW_TEXT } from '../../../src/web/rewrite/markup/elements.ts';
import { MarkupScanner } from '../../../src/web/rewrite/markup/scanner.ts';
import { decodeUnits, unitsOfText } from '../../../src/web/rewrite/source-text.ts';

/** Tags as `<a href="1">@12` and `</a>@30`: names, decoded attributes, and positions. */
const written = (name: string, attributes: readonly (readonly [string, string])[], at: number): string =>
  `<${name}${attributes.map(([key, value]) => ` ${key}=${JSON.stringify(value)}`).join('')}>@${at}`;

const normal = (value: string): string =>
  value.replaceAll('\r\n', '\n').replaceAll('\r', '\n').replaceAll('\0', '\ufffd');

/** Tags of the scanner, called like a reader of pages does. */
export function scannedTags(html: string): string[] {
  const scanner = new MarkupScanner(html);
  const tags: string[] = [];
  scanner.read({
    onEndTag: () => {
      tags.push(`</${normal(scanner.tagName)}>@${scanner.tagStart}`);
    },
    onStartTag: () => {
      const attributes = new Map<string, string>();
      for (let index = 0; index < scanner.attributeCount; index++) {
        const name = normal(scanner.attributeName(index));
        const [start, end] = [scanner.valueStart(index), scanner.valueEnd(index)];
        const units = unitsOfText(html.slice(start, end));
        const value = decodeUnits(decodeReferences(units, 0, units.length, 'attribute')?.text ?? units);
        if (!attributes.has(name)) attributes.set(name, normal(value));
      }
      tags.push(written(normal(scanner.tagName), [...attributes], scanner.tagStart));
      if (scanner.isHtml && scanner.tagName === 'plaintext') scanner.skipAll();
      if (scanner.isHtml && RAW_TEXT.has(scanner.tagName)) scanner.skipRawText();
    },
  });
  return tags;
}

const MODES: Readonly<Record<string, (typeof TokenizerMode)[keyof typeof TokenizerMode]>> = {
  script: TokenizerMode.SCRIPT_DATA,
  plaintext: TokenizerMode.PLAINTEXT,
  textarea: TokenizerMode.RCDATA,
  title: TokenizerMode.RCDATA,
};

const ignore = (): void => {};

/** Tags of parse5's tokenizer for HTML without SVG and MathML. */
export function tokenizedTags(html: string): string[] {
  const tags: string[] = [];
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: true },
    {
      onStartTag: ({ tagName, attrs, location }) => {
        tags.push(
          written(
            tagName,
            attrs.map(({ name, value }) => [name, value]),
            location?.startOffset ?? -1,
          ),
        );
        if (RAW_TEXT.has(tagName) || tagName === 'plaintext') tokenizer.state = MODES[tagName] ?? TokenizerMode.RAWTEXT;
      },
      onEndTag: ({ tagName, location }) => {
        tags.push(`</${tagName}>@${location?.startOffset ?? -1}`);
      },
      onCharacter: ignore,
      onNullCharacter: ignore,
      onWhitespaceCharacter: ignore,
      onComment: ignore,
      onDoctype: ignore,
      onEof: ignore,
    },
  );
  tokenizer.write(html, true);
  return tags;
}

/** Names and start positions of elements in parse5's tree. */
export function parsedElements(html: string): Set<string> {
  const elements = new Set<string>();
  const walk = (parent: DefaultTreeAdapterTypes.ParentNode): void => {
    for (const node of parent.childNodes) {
      if (!('tagName' in node)) continue;
      const start = node.sourceCodeLocation?.startOffset;
      if (start !== undefined) elements.add(`${node.tagName.toLowerCase()}@${start}`);
      if ('content' in node) walk(node.content);
      walk(node);
    }
  };
  walk(parse(html, { sourceCodeLocationInfo: true }));
  return elements;
}

/** Names and start positions of elements by the scanner. In HTML, `<image>` is `img` in the tree. */
export function scannedElements(html: string): Set<string> {
  const starts = scannedTags(html).filter((tag) => !tag.startsWith('</'));
  return new Set(starts.map((tag) => `${/^<([^ >]+)/.exec(tag)?.[1]}@${tag.slice(tag.lastIndexOf('@') + 1)}`));
}

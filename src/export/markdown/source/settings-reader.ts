import { DocshelfError } from '../../../domain/errors.ts';
import { languageTag } from '../../../web/language-tag.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** One object of `docs.json`. Errors name the place of a value of the wrong kind; null counts as left out. */
export class SettingsReader {
  readonly #values: Readonly<Record<string, Json>>;
  /** `navigation[2].pages[0].`, or empty for the whole file. */
  readonly #prefix: string;

  constructor(values: Readonly<Record<string, Json>>, prefix = '') {
    this.#values = values;
    this.#prefix = prefix;
  }

  keys(): readonly string[] {
    return Object.keys(this.#values);
  }

  with(other: SettingsReader): SettingsReader {
    return new SettingsReader({ ...this.#values, ...other.#values }, this.#prefix);
  }

  value(key: string): Json {
    return (Object.hasOwn(this.#values, key) ? this.#values[key] : null) ?? null;
  }

  isObject(key: string): boolean {
    return isObject(this.value(key));
  }

  text(key: string): string | null {
    const value = this.value(key);
    if (value === null) return null;
    if (typeof value !== 'string') throw this.fault(key, 'is no text');
    return value.trim() || null;
  }

  needText(key: string): string {
    const text = this.text(key);
    if (text === null) throw this.fault(key, 'is missing');
    return text;
  }

  languageAt(key: string, written: string): string {
    const code = languageTag(written);
    if (code === null) throw this.fault(key, 'is no language tag like fr or pt-BR');
    return code;
  }

  number(key: string, min: number, max: number): number | null {
    const value = this.value(key);
    if (value === null) return null;
    if (typeof value !== 'number' || value < min || value > max) {
      throw this.fault(key, `is no number from ${min} to ${max}`);
    }
    return value;
  }

  section(key: string): SettingsReader | null {
    const value = this.value(key);
    if (value === null) return null;
    if (!isObject(value)) throw this.fault(key, 'is no object');
    return new SettingsReader(value, `${this.#prefix}${key}.`);
  }

  list(key: string): readonly SettingsReader[] {
    return this.items(key).map((value, index) => this.item(key, value, index));
  }

  items(key: string): readonly Json[] {
    const value = this.value(key);
    if (value === null) return [];
    if (!Array.isArray(value)) throw this.fault(key, 'is no list');
    return value;
  }

  item(key: string, value: Json, index: number): SettingsReader {
    if (!isObject(value)) throw this.fault(`${key}[${index}]`, 'is no object');
    return new SettingsReader(value, `${this.#prefix}${key}[${index}].`);
  }

  fault(key: string, state: string): DocshelfError {
    const name = `${this.#prefix}${key}`;
    return new DocshelfError('bad_source', `Cannot read "docs.json": "${name}" ${state}`, {
      next: 'The manual\'s page "A site from Markdown" lists what docs.json takes.',
      fields: { path: 'docs.json', key: name },
    });
  }
}

export function isObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

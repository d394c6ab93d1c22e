import { Tokenizer } from '@huggingface/tokenizers';
import { invalid, type ModelFiles } from './model-files.ts';
import { readableScripts } from './scripts.ts';

/** What stands behind so many a token is cut off by the model in any case; a megabyte on one line is not tokenised for that. */
const CHARACTERS_A_TOKEN_MAX = 20;

export class Tokens {
  readonly #tokenizer: Tokenizer;
  readonly #tokensMax: number;
  readonly #isByteLevel: boolean;
  readonly #before: readonly number[];
  readonly #after: readonly number[];

  constructor(folder: string, files: ModelFiles) {
    try {
      this.#tokenizer = new Tokenizer(files.tokenizer, files.tokenizerConfig);
      const whole = this.#tokenizer.encode('a').ids;
      const bare = this.#tokenizer.encode('a', { add_special_tokens: false }).ids;
      const at = bare[0] === undefined ? whole.length : whole.indexOf(bare[0]);
      this.#before = whole.slice(0, at);
      this.#after = whole.slice(at + bare.length);
    } catch (error) {
      throw invalid(`${folder}/tokenizer.json`, `its tokenizer does not work (${(error as Error).message})`, error);
    }
    this.#tokensMax = files.tokensMax;
    const { decoder = null } = files.tokenizer as { decoder?: unknown };
    this.#isByteLevel = JSON.stringify(decoder).includes('"ByteLevel"');
  }

  encode(text: string): number[] {
    const room = this.#tokensMax - this.#before.length - this.#after.length;
    const ids = this.#bare(text.slice(0, room * CHARACTERS_A_TOKEN_MAX));
    return [...this.#before, ...ids.slice(0, room), ...this.#after];
  }

  count(text: string): number {
    return this.#bare(text).length;
  }

  readableScripts(): ReadonlySet<string> {
    return readableScripts(this.#tokenizer.get_vocab().keys(), this.#isByteLevel);
  }

  #bare(text: string): number[] {
    return this.#tokenizer.encode(text, { add_special_tokens: false }).ids;
  }
}

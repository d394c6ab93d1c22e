import type { PageLanguage } from '../../web/words/index.ts';
import type { PlainAnswer } from '../plain-answer.ts';
import { noticeAnswer, type SearchForm } from './notice.ts';

interface Made {
  readonly page: PlainAnswer;
  readonly asset: PlainAnswer;
}

const NO_REQUEST = { header: (): undefined => undefined };

/** Docshelf's own 404 answers of a site. Addresses that name nothing have no end: these are made once. */
export class MissingAnswers {
  readonly #search: SearchForm | null;
  readonly #made = new Map<PageLanguage, Made>();

  /** @param search offered on the page; null: none */
  constructor(search: SearchForm | null) {
    this.#search = search;
  }

  of(language: PageLanguage, isAsset: boolean): PlainAnswer {
    const made = this.#made.get(language) ?? this.#make(language);
    return isAsset ? made.asset : made.page;
  }

  #make(language: PageLanguage): Made {
    const notice = { status: 404, words: 'notFound', language } as const;
    const made = {
      page: noticeAnswer(NO_REQUEST, { ...notice, form: 'page', search: this.#search }),
      asset: noticeAnswer(NO_REQUEST, { ...notice, form: 'line' }),
    };
    this.#made.set(language, made);
    return made;
  }
}

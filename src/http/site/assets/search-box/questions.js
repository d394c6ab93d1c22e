const here = import.meta.url;
const ENDPOINT = new URL('../../search', here);
export const RESULTS_MAX = 30;
/** Milliseconds between the last typed letter and the search by words. */
const WAIT_MS = 60;
/** Milliseconds before the slower search by meaning, which readers who continue typing do not need. */
const MEANING_AFTER_MS = 120;
const KEPT_MAX = 30;

const pause = (ms, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => clearTimeout(timer));
  });

/**
 * Sends the searches of a dialog. Each search cancels the previous search.
 * @param {{onAnswer: (answer: object, isWhole: boolean) => void, onFault: (status: number) => void}} listener status 0: no response
 */
export function createQuestions({ onAnswer, onFault }) {
  let asked = new AbortController();
  let kept = new Map();

  async function answerTo(parameters, signal) {
    const address = new URL(ENDPOINT);
    address.search = new URLSearchParams(parameters);
    const before = kept.get(address.href);
    if (before !== undefined) return before;
    const response = await fetch(address, { signal, headers: { accept: 'application/json' } });
    if (!response.ok) throw response.status;
    const answer = await response.json();
    if (kept.size >= KEPT_MAX) kept.delete(kept.keys().next().value);
    kept.set(address.href, answer);
    return answer;
  }

  async function run(parameters, signal) {
    const common = { view: 'box', limit: RESULTS_MAX, ...parameters };
    try {
      const words = await answerTo({ ...common, legs: 'words' }, signal);
      if (signal.aborted) return;
      onAnswer(words, !words.semantic);
      if (!words.semantic) return;
      await pause(MEANING_AFTER_MS, signal);
      const all = await answerTo({ ...common, legs: 'all' }, signal);
      if (!signal.aborted) onAnswer(all, true);
    } catch (fault) {
      if (!signal.aborted) onFault(typeof fault === 'number' ? fault : 0);
    }
  }

  return {
    /** Starts a search. @param {Record<string, string>} parameters query parameters. `isNow` skips the pause */
    ask(parameters, isNow = false) {
      asked.abort();
      asked = new AbortController();
      const { signal } = asked;
      void pause(isNow ? 0 : WAIT_MS, signal).then(() => run(parameters, signal));
    },
    stop: () => asked.abort(),
    /** Discards earlier responses when the dialog closes, because another version can be active at the next search. */
    forget() {
      asked.abort();
      kept = new Map();
    },
  };
}

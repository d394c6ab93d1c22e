import type { ActionMessage } from '../session/messages.ts';

/** What an action has done, or why it has not; the first that a reader of screens hears. */
export function Said({ message: { text, problem, link } }: { readonly message: ActionMessage }) {
  return (
    <section class={`alert ${problem === null ? 'good' : 'bad'}`} id="said" role="status" tabindex={-1} autofocus>
      <h2>{text}</h2>
      {problem && <p>{problem.error}</p>}
      {problem?.next && (
        <p>
          <strong>Next:</strong> {problem.next}
        </p>
      )}
      {problem && (
        <p>
          <small>
            <code>{problem.code}</code>
            {problem.requestId && ` · request ${problem.requestId}`}
          </small>
        </p>
      )}
      {link && (
        <p>
          <a href={link}>{link}</a>
        </p>
      )}
    </section>
  );
}

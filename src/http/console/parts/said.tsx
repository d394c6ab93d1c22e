import type { ActionMessage } from '../session/messages.ts';
import { FaultCode } from './fault-code.tsx';

/** What an action has done, or why it has not; the first that a reader of screens hears. */
export function Said({ root, message }: { readonly root: string; readonly message: ActionMessage }) {
  const { text, problem, link } = message;
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
            <FaultCode root={root} code={problem.code} />
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

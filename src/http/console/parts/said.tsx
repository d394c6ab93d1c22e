import type { ActionMessage, Verdict } from '../session/messages.ts';
import { FaultCode } from './fault-code.tsx';
import { Name } from './tables.tsx';

interface SaidProps {
  readonly root: string;
  readonly message: ActionMessage;
}

/** What an action has done, or why it has not; the first that a reader of screens hears. */
export function Said({ root, message }: SaidProps) {
  const { text, problem, link, each = [] } = message;
  const isGood = [message, ...each].every((verdict) => verdict.problem === null);
  return (
    <section class={`alert ${isGood ? 'good' : 'bad'}`} id="said" role="status" tabindex={-1} autofocus>
      <h2>{text}</h2>
      {problem && <Why root={root} problem={problem} />}
      {each.length > 0 && (
        <ul>
          {each.map((verdict) => (
            <li>
              <strong>{verdict.text}</strong>
              {verdict.problem && <Why root={root} problem={verdict.problem} />}
            </li>
          ))}
        </ul>
      )}
      {link && (
        <p>
          <a href={link}>{link}</a>
        </p>
      )}
    </section>
  );
}

interface WhyProps {
  readonly root: string;
  readonly problem: NonNullable<Verdict['problem']>;
}

function Why({ root, problem: { error, next, code, requestId } }: WhyProps) {
  return (
    <>
      <p>{error}</p>
      {next && (
        <p>
          <strong>Next:</strong> {next}
        </p>
      )}
      <p>
        <small>
          <FaultCode root={root} code={code} />
          {requestId && [' · request ', <Name>{requestId}</Name>]}
        </small>
      </p>
    </>
  );
}

import type { Child } from 'hono/jsx';
import { type OperationId, operations } from '../admin/operations.ts';
import { Explained, Name } from './elements.tsx';
import { type ActionMessage, FORM_TOKEN, type Verdict } from './sessions.ts';
import { type CallInput, type ConsoleVisit, call, type VisitProps } from './visit.ts';

/** What an action has done, or why it has not; the first that a reader of screens hears. */
export function Said({ root, message }: { readonly root: string; readonly message: ActionMessage }) {
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

function Why({ root, problem: { error, requestId, ...problem } }: WhyProps) {
  return (
    <Explained root={root} message={error} next={problem.next} code={problem.code}>
      {requestId && [' · request ', <Name>{requestId}</Name>]}
    </Explained>
  );
}

interface PageCall extends CallInput {
  /** To who is not signed in, where the call is for who is. */
  readonly hint?: Child;
  /** Absent: the problem's title. */
  readonly failed?: string;
}

/** @returns what the call answers; or null, the status of its problem, and what the page shows instead */
export async function callForPage<Value>(visit: ConsoleVisit, id: OperationId, { hint, failed, ...input }: PageCall) {
  const { session, root } = visit;
  if (session === null && operations[id].security !== null)
    return { value: null, status: 200, instead: <p class="card empty">{hint}</p> };
  const called = await call(visit, id, input);
  const { problem } = called;
  if (problem === null) return { value: called.value as Value, status: 200 };
  const instead = <Said root={root} message={{ text: failed ?? problem.title, problem }} />;
  return { value: null, status: problem.status, instead };
}

interface ActionFormProps extends VisitProps {
  /** Below the root: `sites/acme/activate`. */
  readonly action: string;
  readonly class?: string;
  readonly enctype?: 'multipart/form-data';
  readonly 'aria-labelledby'?: string;
  /** It leads back to its page: where scripts run it is sent without leaving that (`live.js`). */
  readonly stays?: true;
  readonly fields?: Readonly<Record<string, string>>;
  readonly children?: Child;
}

/** A form that changes something, with the session's token. Nothing where nobody is signed in: pages are read-only then. */
export function ActionForm({ visit, action, stays, fields = {}, children, ...rest }: ActionFormProps) {
  if (visit.session === null) return null;
  return (
    <form method="post" action={visit.root + action} data-stays={stays} {...rest}>
      <input type="hidden" name={FORM_TOKEN} value={visit.session.formToken} />
      {Object.entries(fields).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {children}
    </form>
  );
}

import type { Child } from 'hono/jsx';
import { type OperationId, operations } from '../admin/operations.ts';
import { Explained, Name } from './elements.tsx';
import { type ActionMessage, FORM_TOKEN, type Verdict } from './sessions.ts';
import { type CallInput, type ConsoleVisit, call, type VisitProps } from './visit.ts';

/** The result of an action. It gets the focus, so that screen readers announce it first. */
export function ActionResult({ root, message }: { readonly root: string; readonly message: ActionMessage }) {
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
  readonly hint?: Child;
  /** Heading of an error. Default: the title of the problem. */
  readonly failed?: string;
}

/** @returns the value of the call; or null, with the status of its problem and the content to show instead */
export async function callForPage<Value>(visit: ConsoleVisit, id: OperationId, { hint, failed, ...input }: PageCall) {
  const { session, root } = visit;
  if (session === null && operations[id].security !== null)
    return { value: null, status: 200, instead: <p class="card empty">{hint}</p> };
  const called = await call(visit, id, input);
  const { problem } = called;
  if (problem === null) return { value: called.value as Value, status: 200 };
  const instead = <ActionResult root={root} message={{ text: failed ?? problem.title, problem }} />;
  return { value: null, status: problem.status, instead };
}

interface ActionFormProps extends VisitProps {
  readonly action: string;
  readonly class?: string;
  readonly enctype?: 'multipart/form-data';
  readonly 'aria-labelledby'?: string;
  /** The action redirects to the same page, so `live.js` sends the form without leaving it. */
  readonly stays?: true;
  readonly fields?: Readonly<Record<string, string>>;
  readonly children?: Child;
}

/** Renders nothing if nobody is signed in, because pages are read-only then. */
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

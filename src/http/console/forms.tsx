import type { Child } from 'hono/jsx';
import { type OperationId, operations } from '../admin/operations.ts';
import { Explained, Name } from './elements.tsx';
import { type ActionMessage, FORM_TOKEN, type Verdict } from './sessions.ts';
import { type CallInput, type ConsoleVisit, call, type VisitProps } from './visit.ts';

interface ActionResultProps extends VisitProps {
  readonly message: ActionMessage;
  /** Name of the result message in the session. The undo button sends this name, so a message without a name has no undo button. */
  readonly name?: string | undefined;
}

/** Result of an action. It gets the focus, so that screen readers announce it first. */
export function ActionResult({ visit, message, name }: ActionResultProps) {
  const { text, problem, link, each = [], undo = [] } = message;
  const { root } = visit;
  const isGood = [message, ...each].every((verdict) => verdict.problem === null);
  return (
    <section class={`alert ${isGood ? 'good' : 'bad'}`} id="message" role="status" tabindex={-1} autofocus>
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
      {name !== undefined && undo.length > 0 && (
        <ActionForm visit={visit} action="undo" fields={{ message: name }} stays>
          <button type="submit">
            {undo.length === 1 ? `Undo: activate ${undo[0]?.former.version} again` : `Undo for ${undo.length} sites`}
          </button>
        </ActionForm>
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
  readonly failed?: string;
}

/** Calls the admin API for a page. If the call fails or needs a sign-in, `value` is null, and `instead` is the content to show. */
export async function callForPage<Value>(visit: ConsoleVisit, id: OperationId, { hint, failed, ...input }: PageCall) {
  if (visit.session === null && operations[id].security !== null)
    return { value: null, status: 200, instead: <p class="card empty">{hint}</p> };
  const called = await call(visit, id, input);
  const { problem } = called;
  if (problem === null) return { value: called.value as Value, status: 200 };
  const instead = <ActionResult visit={visit} message={{ text: failed ?? problem.title, problem }} />;
  return { value: null, status: problem.status, instead };
}

interface ActionFormProps extends VisitProps {
  readonly action: string;
  readonly id?: string;
  readonly class?: string;
  readonly enctype?: 'multipart/form-data';
  readonly 'aria-labelledby'?: string;
  /** True if the action redirects to the page that contains the form. `live.js` then sends the form in the background. */
  readonly stays?: true;
  readonly fields?: Readonly<Record<string, string>>;
  readonly children?: Child;
}

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

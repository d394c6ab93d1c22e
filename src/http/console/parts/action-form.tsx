import type { Child } from 'hono/jsx';
import { FORM_TOKEN } from '../session/guard.ts';
import type { ConsoleVisit } from '../visit.ts';

interface ActionFormProps {
  readonly visit: ConsoleVisit;
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

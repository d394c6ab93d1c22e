import type { Child } from 'hono/jsx';
import type { DeployState } from '../../domain/status.ts';
import { nounOf } from '../../domain/text.ts';

const BYTE_UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

export function bytesInWords(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < BYTE_UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${BYTE_UNITS[unit]}`;
}

export function countInWords(count: number): string {
  return count.toLocaleString('en-US');
}

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;

/** Returns `just now` for a time in the future, which a wrong clock can cause. */
export function agoInWords(rfc3339: string, now: Date): string {
  const seconds = (now.getTime() - Date.parse(rfc3339)) / 1000;
  if (seconds < MINUTE_S) return 'just now';
  if (seconds < HOUR_S) return ago(seconds / MINUTE_S, 'minute');
  if (seconds < 2 * DAY_S) return ago(seconds / HOUR_S, 'hour');
  return ago(seconds / DAY_S, 'day');
}

function ago(amount: number, unit: string): string {
  const whole = Math.floor(amount);
  return `${countInWords(whole)} ${nounOf(whole, unit)} ago`;
}

export function Time({ at }: { readonly at: string }) {
  return <time datetime={at}>{`${at.slice(0, 10)} ${at.slice(11, 16)} UTC`}</time>;
}

export function Day({ at }: { readonly at: string }) {
  return <time datetime={at}>{at.slice(0, 10)}</time>;
}

export function TimeAgo({ at, now }: { readonly at: string; readonly now: Date }) {
  return (
    <>
      <Time at={at} /> <small class="ago">{agoInWords(at, now)}</small>
    </>
  );
}

export function FaultCode({ root, code }: { readonly root: string; readonly code: string }) {
  return (
    <a href={`${root}manual/errors#${code}`}>
      <code>{code}</code>
    </a>
  );
}

export type ChipTone = 'good' | 'warn' | 'bad' | 'info' | 'none';

export const STATES: Readonly<Record<DeployState, { readonly tone: ChipTone; readonly meaning: string }>> = {
  ready: { tone: 'good', meaning: 'docshelf serves the configured version.' },
  stale: { tone: 'warn', meaning: 'The configured version is not available. docshelf serves the last good version.' },
  waiting: { tone: 'bad', meaning: 'No version is active yet. Readers see a notice.' },
  off: { tone: 'none', meaning: 'staticExport.enabled turns this site off.' },
};

export function StateChip({ state }: { readonly state: DeployState }) {
  return <strong class={`state ${STATES[state].tone}`}>{state}</strong>;
}

export function Chip({ tone, children }: { readonly tone: ChipTone; readonly children: string }) {
  return <span class={`chip ${tone}`}>{children}</span>;
}

/** Maximum characters of an identifier that is shown on one line in a table column. */
const SHORT_NAME_MAX = 24;

export function Name({ children: name }: { readonly children: string }) {
  return <span class={name.length <= SHORT_NAME_MAX ? 'name short' : 'name'}>{name}</span>;
}

export interface RowOfCells {
  readonly id?: string;
  readonly cells: readonly Child[];
}

export interface SortableColumn {
  readonly name: string;
  readonly href: string;
  readonly sort: 'ascending' | 'descending' | undefined;
}

interface TableProps {
  readonly id: string;
  readonly title: string;
  readonly note?: string;
  readonly class?: string;
  readonly columns: readonly (string | SortableColumn)[];
  readonly numbers?: readonly string[];
  readonly empty: string;
  readonly rows: readonly RowOfCells[];
}

/** On a phone, each row becomes a card. Each cell then shows the column name from `data-column`. */
export function Table({ id, title, note, columns, numbers = [], empty, rows, ...rest }: TableProps) {
  const classOf = (name = '') => (numbers.includes(name) ? 'number' : name === 'Actions' ? 'acts' : undefined);
  const names = columns.map((column) => (typeof column === 'string' ? column : column.name));
  return (
    <section>
      <div class="title">
        <h2 id={id}>{title}</h2>
        {note && <small>{note}</small>}
      </div>
      {rows.length === 0 ? (
        <p class="card empty">{empty}</p>
      ) : (
        <div class="table">
          <table aria-labelledby={id} {...rest}>
            <thead>
              <tr>
                {columns.map((column, at) => (
                  <th
                    scope="col"
                    class={classOf(names[at]) === 'number' ? 'number' : undefined}
                    aria-sort={typeof column === 'string' ? undefined : column.sort}
                  >
                    {typeof column === 'string' ? column : <a href={column.href}>{column.name}</a>}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr id={row.id}>
                  {row.cells.map((cell, at) =>
                    at === 0 ? (
                      <th scope="row">{cell}</th>
                    ) : (
                      <td data-column={names[at]} class={classOf(names[at])}>
                        {cell}
                      </td>
                    ),
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

export function Up({ to, name }: { readonly to: string; readonly name: string }) {
  return (
    <p class="up">
      <a href={to}>{name}</a>
    </p>
  );
}

interface ExplainedProps {
  readonly root: string;
  readonly message: string;
  readonly next: string | null | undefined;
  readonly code: string;
  readonly children?: Child;
}

export function Explained({ root, message, next, code, children }: ExplainedProps) {
  return (
    <>
      <p>{message}</p>
      {next && (
        <p>
          <strong>Next:</strong> {next}
        </p>
      )}
      <p>
        <small>
          <FaultCode root={root} code={code} />
          {children}
        </small>
      </p>
    </>
  );
}

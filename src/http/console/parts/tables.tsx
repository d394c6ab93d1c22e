import type { Child } from 'hono/jsx';

/** Characters of an identifier, such as a key's, that fit into a column. */
const SHORT_LENGTH_MAX = 24;

/** An identifier: it stays on one line, and breaks only if it is longer than the line. */
export function Name({ children: name }: { readonly children: string }) {
  return <span class={name.length <= SHORT_LENGTH_MAX ? 'name short' : 'name'}>{name}</span>;
}

interface TableProps {
  readonly id: string;
  readonly title: string;
  readonly note?: string;
  readonly columns: readonly string[];
  /** Names of columns whose cells are numbers. */
  readonly numbers?: readonly string[];
  readonly empty: string;
  readonly rows: readonly Child[];
}

/** With its heading. On a phone each row is a card, whose cells name their column by `data-column`. */
export function Table({ id, title, note, columns, numbers = [], empty, rows }: TableProps) {
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
          <table aria-labelledby={id}>
            <thead>
              <tr>
                {columns.map((name) => (
                  <th scope="col" class={numbers.includes(name) ? 'number' : undefined}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>{rows}</tbody>
          </table>
        </div>
      )}
    </section>
  );
}

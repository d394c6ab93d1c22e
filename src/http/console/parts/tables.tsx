import type { Child } from 'hono/jsx';

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

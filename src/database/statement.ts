export const SCHEMA_NAME = 'docshelf';

export type Statement = { readonly text: string; readonly names: readonly string[] };

export type StatementValues = Readonly<Record<string, string | number | boolean | null>>;

export function statement(sql: string): Statement {
  const names: string[] = [];
  const text = sql.replace(/(?<!:):([a-z]\w*)/gi, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { text, names };
}

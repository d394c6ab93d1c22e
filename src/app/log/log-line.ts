/** Makes lines of the log of the level `info` without the logger, of the fields of a JSON object without its braces. */
export function lineMaker(): (fields: string, atMs?: number) => string {
  const time = timeField();
  return (fields, atMs) => `{"level":"info"${time(atMs)},${fields}}\n`;
}

/** Many lines are of one millisecond. */
export function timeField(): (atMs?: number) => string {
  let lastMs = 0;
  let field = '';
  return (atMs = Date.now()) => {
    if (atMs !== lastMs) field = `,"time":"${new Date(atMs).toISOString()}"`;
    lastMs = atMs;
    return field;
  };
}

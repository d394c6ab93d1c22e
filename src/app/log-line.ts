/** Makes lines of the log of the level `info` without the logger, of the fields of a JSON object without its braces. */
export function lineMaker(): (fields: string) => string {
  const time = timeField();
  return (fields) => `{"level":"info"${time()},${fields}}\n`;
}

/** Many lines are of one millisecond. */
export function timeField(): () => string {
  let atMs = 0;
  let field = '';
  return () => {
    const nowMs = Date.now();
    if (nowMs !== atMs) field = `,"time":"${new Date(nowMs).toISOString()}"`;
    atMs = nowMs;
    return field;
  };
}

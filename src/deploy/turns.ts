/** Runs what it is given one after another, in the order of the calls; a failure is its caller's and stops nobody else. */
export type InTurn = <T>(act: () => Promise<T>) => Promise<T>;

export function turns(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const mine = last.then(act, act);
    last = mine.catch(() => undefined);
    return mine;
  };
}

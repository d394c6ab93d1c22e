/** Pods have separate ports. Here they share one machine, so each process uses free ones. */
export const OWN_PORTS: Readonly<Record<string, string>> = Object.fromEntries(
  ['SERVER', 'ADMIN', 'API'].flatMap((section) => [
    [`DOCSHELF__${section}__HOST`, '127.0.0.1'],
    [`DOCSHELF__${section}__PORT`, '0'],
  ]),
);

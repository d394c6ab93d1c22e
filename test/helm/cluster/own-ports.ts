/** Every pod has ports of its own; here all share those of one machine, so each process takes free ones. */
export const OWN_PORTS: Readonly<Record<string, string>> = Object.fromEntries(
  ['SERVER', 'ADMIN', 'API'].flatMap((section) => [
    [`DOCSHELF__${section}__HOST`, '127.0.0.1'],
    [`DOCSHELF__${section}__PORT`, '0'],
  ]),
);

const RANGE = /^\s*([^\s;/]+)\/([^\s;]+)\s*(?:;(.*))?$/;
const WEIGHT = /(?:^|;)\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*(?:;|$)/i;

type Weights = ReadonlyMap<string, number>;

function weightsOf(accept: string): Weights {
  const weights = new Map<string, number>();
  for (const item of accept.split(',')) {
    const [, type = '', subtype = '', parameters = ''] = RANGE.exec(item) ?? [];
    const weight = WEIGHT.exec(parameters)?.[1];
    if (type !== '') weights.set(`${type}/${subtype}`.toLowerCase(), weight === undefined ? 1 : Number(weight));
  }
  return weights;
}

/** Weight of the most specific range that covers the type (RFC 9110, section 12.5.1). */
function weightOf(type: string, weights: Weights): number {
  const ranges = [type, type.replace(/\/.*/, '/*'), '*/*'];
  return ranges.map((range) => weights.get(range)).find((weight) => weight !== undefined) ?? 0;
}

/**
 * True if the field names the wanted type and the usual one weighs no more. A client that accepts all types is sent the usual one.
 * @param wanted, usual in lower case, without parameters
 */
export function prefersType(accept: string, wanted: string, usual: string): boolean {
  const weights = weightsOf(accept);
  const ofWanted = weights.get(wanted) ?? 0;
  return ofWanted > 0 && ofWanted >= weightOf(usual, weights);
}

/** @param accept empty or null: the client accepts all types @param type in lower case, without parameters */
export function acceptsType(accept: string | null, type: string): boolean {
  return accept === null || accept.trim() === '' || weightOf(type, weightsOf(accept)) > 0;
}

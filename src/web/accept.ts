const RANGE = /^\s*([^\s;/]+)\/([^\s;]+)\s*(?:;(.*))?$/;
const WEIGHT = /(?:^|;)\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*(?:;|$)/i;

/**
 * True where a type is named and the usual one weighs no more (RFC 9110, section 12.5.1). Who accepts all is sent the usual one.
 * @param wanted, usual in lower case, without parameters
 */
export function prefersType(accept: string, wanted: string, usual: string): boolean {
  const weights = new Map<string, number>();
  for (const item of accept.split(',')) {
    const [, type = '', subtype = '', parameters = ''] = RANGE.exec(item) ?? [];
    const weight = WEIGHT.exec(parameters)?.[1];
    if (type !== '') weights.set(`${type}/${subtype}`.toLowerCase(), weight === undefined ? 1 : Number(weight));
  }
  const ranges = [usual, usual.replace(/\/.*/, '/*'), '*/*'];
  const ofUsual = ranges.map((range) => weights.get(range)).find((weight) => weight !== undefined) ?? 0;
  const ofWanted = weights.get(wanted) ?? 0;
  return ofWanted > 0 && ofWanted >= ofUsual;
}

/**
 * Whether a refused link has expired, as the object stores of this world say it. They answer 400 or 403 to an expired
 * link and to a wrong one alike, and tell them apart in the body, in a header, or not at all; but a presigned link
 * carries its own end in its query.
 */

/**
 * What the stores' bodies say: S3 and those like it ("Request has expired", ExpiredToken), Google ("…signature expired at",
 * ExpiredToken), Azure ("Signature not valid in the specified time frame"), docshelf's own (link_expired).
 */
const EXPIRED_BODY =
  /request (?:signature )?(?:has )?expired|token has expired|signature (?:has )?expired|link has expired|link_expired|ExpiredToken|not valid in the specified time frame/i;

export function saysExpired(body: string): boolean {
  return EXPIRED_BODY.test(body);
}

/** When the link ends by its own query, in milliseconds since 1970; null where it does not say. */
export function expiryOfLink(link: string): number | null {
  if (!URL.canParse(link)) return null;
  const query = new Map([...new URL(link).searchParams].map(([name, value]) => [name.toLowerCase(), value]));
  for (const vendor of ['x-amz', 'x-goog']) {
    const start = basicDate(query.get(`${vendor}-date`));
    const seconds = wholeNumber(query.get(`${vendor}-expires`));
    if (start !== null && seconds !== null) return start + seconds * 1000;
  }
  // Azure's shared access signature: `se` is a date, or a date with time.
  const sasEnd = query.has('sig') ? Date.parse(query.get('se') ?? '') : Number.NaN;
  if (!Number.isNaN(sasEnd)) return sasEnd;
  // S3 version 2, Google version 2, CloudFront: seconds since 1970.
  const epochSeconds = wholeNumber(query.get('expires'));
  return epochSeconds === null ? null : epochSeconds * 1000;
}

/** `20240601T120000Z` (ISO 8601, basic format). */
function basicDate(text: string | undefined): number | null {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text ?? '');
  if (parts === null) return null;
  const [, year, month, day, hour, minute, second] = parts;
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(time) ? null : time;
}

function wholeNumber(text: string | undefined): number | null {
  return /^\d{1,12}$/.test(text ?? '') ? Number(text) : null;
}

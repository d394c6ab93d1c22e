const MONTH = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec';
const TIME = '\\d{2}:\\d{2}:\\d{2}';

/** RFC 9110, section 5.6.7: the preferred form and the two obsolete ones, which a recipient must take. */
const FORMS = [
  new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \\d{2} (?:${MONTH}) \\d{4} ${TIME} GMT$`),
  new RegExp(`^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \\d{2}-(?:${MONTH})-\\d{2} ${TIME} GMT$`),
];
const ASCTIME = new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:${MONTH}) [ \\d]\\d ${TIME} \\d{4}$`);

/** Milliseconds since 1970; null for what is no HTTP date, which `Date.parse` alone would often take for one. */
export function parseHttpDate(text: string | undefined): number | null {
  if (text === undefined) return null;
  const dateMs = ASCTIME.test(text)
    ? Date.parse(`${text} GMT`)
    : FORMS.some((form) => form.test(text))
      ? Date.parse(text)
      : Number.NaN;
  return Number.isNaN(dateMs) ? null : dateMs;
}

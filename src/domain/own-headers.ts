export type AnswerHeaders = Readonly<Record<string, string>>;

export const COMMON_HEADERS: AnswerHeaders = { 'X-Content-Type-Options': 'nosniff' };

/** Headers of docshelf's own responses. Without them, a page could load such a response in a frame to evade the page's own policy. */
export const OWN_HEADERS: AnswerHeaders = {
  ...COMMON_HEADERS,
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

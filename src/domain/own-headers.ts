export type AnswerHeaders = Readonly<Record<string, string>>;

export const COMMON_HEADERS: AnswerHeaders = { 'X-Content-Type-Options': 'nosniff' };

/** Headers of docshelf's own responses. A page could otherwise frame such a response to evade the policy of the page. */
export const OWN_HEADERS: AnswerHeaders = {
  ...COMMON_HEADERS,
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

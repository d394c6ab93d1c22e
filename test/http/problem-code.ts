import { expect } from 'vitest';

/** Returns the code of a response, which must be a complete problem document. */
export async function codeOf(response: Response): Promise<string> {
  expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  const problem = (await response.json()) as { code: string; error: string; detail: string; status: number };
  expect([problem.error, problem.status]).toEqual([problem.detail, response.status]);
  return problem.code;
}

/** Returns status and code of a problem document. */
export async function outcomeOf(answering: Response | Promise<Response>): Promise<[status: number, code: unknown]> {
  const answer = await answering;
  return [answer.status, await codeOf(answer)];
}

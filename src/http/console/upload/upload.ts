import { ReadableStream } from 'node:stream/web';
import { DocshelfError, type Problem, toDocshelfError } from '../../../domain/errors.ts';
import { refuseSignatureName, requireFileName, SIGNATURE_EXTENSION } from '../../../domain/file-name.ts';
import { showName } from '../../../domain/secret.ts';
import type { ShapeOf } from '../../../domain/shape.ts';
import { collect } from '../../../files/index.ts';
import type { takenInSchema } from '../../admin/answer-schemas.ts';
import { requestIdOf } from '../../listener/request-id.ts';
import { problemOf } from '../../problem.ts';
import { siteAddress } from '../addresses.ts';
import { FORM_TOKEN, requireFormToken } from '../session/guard.ts';
import type { ActionMessage, Verdict } from '../session/messages.ts';
import { backTo, call, parameterOf, type SessionVisit } from '../visit.ts';
import { type FormPart, formParts } from './multipart.ts';

const FIELD_BYTES_MAX = 64 * 1024;

/** Takes archives in, each as it comes: fields and signatures stand before them in the form. A script is told in JSON. */
export async function upload(visit: SessionVisit): Promise<Response> {
  const { c } = visit;
  const verdicts: Verdict[] = [];
  const fields = new Map<string, string>();
  const signatures = new Map<string, string>();
  for await (const part of formParts(c.req.raw)) {
    if (part.fileName === null) fields.set(part.name, await textOf(part));
    if (part.fileName === null || part.fileName === '') continue;
    // Before a byte of a file is read.
    requireFormToken(fields.get(FORM_TOKEN) ?? null, visit.session);
    if (part.name === 'signature') signatures.set(part.fileName, await textOf(part));
    else {
      const own = signatures.get(part.fileName + SIGNATURE_EXTENSION);
      // One that was chosen for one archive may bear another name.
      const only = verdicts.length === 0 && signatures.size === 1 ? signatures.values().next().value : undefined;
      verdicts.push(await takeIn(visit, part, fields, own ?? only ?? null));
    }
  }
  requireFormToken(fields.get(FORM_TOKEN) ?? null, visit.session);
  if (verdicts.length === 0) verdicts.push(noArchive(requestIdOf(c.env)));
  const isScript = (c.req.header('accept') ?? '').startsWith('application/json');
  if (isScript) return c.json(verdicts);
  return backTo(visit, siteAddress(parameterOf(visit, 'domain')), inOne(verdicts));
}

async function takeIn(
  visit: SessionVisit,
  { fileName, body }: FormPart,
  fields: ReadonlyMap<string, string>,
  signature: string | null,
): Promise<Verdict> {
  const name = fileName ?? '';
  const target = { domain: parameterOf(visit, 'domain'), parameters: { fileName: name } };
  const failed = (problem: Problem): Verdict => ({ text: `${showName(name)} was refused`, problem });
  try {
    refuseSignatureName(requireFileName(name));
  } catch (error) {
    return failed(problemOf(toDocshelfError(error), requestIdOf(visit.c.env)));
  }
  if (signature !== null) {
    const { problem } = await call(visit, 'uploadSignature', { ...target, body: signature });
    if (problem !== null) return failed(problem);
  }
  const query = { activate: String(fields.has('activate')), version: fields.get('version') || undefined };
  const answer = await call(visit, 'upload', { ...target, query, body: ReadableStream.from(body) });
  if (answer.problem !== null) return failed(answer.problem);
  const { version, activated, moved } = answer.value as ShapeOf<typeof takenInSchema>;
  const former = moved === undefined ? '' : `, whose label led to ${moved.slice(0, 12)} before`;
  return {
    text: `${showName(name)} is taken in: version ${version} is ${activated ? 'active' : 'stored'}${former}`,
    problem: null,
  };
}

async function textOf({ name, body }: FormPart): Promise<string> {
  const bytes = await collect(body, FIELD_BYTES_MAX);
  if (bytes !== null) return bytes.toString();
  throw new DocshelfError('payload_too_large', `Cannot read the request: the field "${name.slice(0, 64)}" is too long`);
}

function noArchive(requestId: string | null): Verdict {
  const error = new DocshelfError('bad_request', 'Cannot take an archive in: the form brings none', {
    next: 'Choose a file, or drop one on the page.',
  });
  return { text: 'No archive was chosen', problem: problemOf(error, requestId) };
}

function inOne(verdicts: readonly Verdict[]): ActionMessage {
  const [first, second] = verdicts;
  if (first !== undefined && second === undefined) return first;
  const refused = verdicts.filter(({ problem }) => problem !== null);
  const taken = verdicts.filter(({ problem }) => problem === null);
  const text = `${taken.length} of ${verdicts.length} archives are taken in`;
  return { text, problem: null, each: [...refused, ...taken] };
}

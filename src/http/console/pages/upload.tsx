import { ReadableStream } from 'node:stream/web';
import { DocshelfError, type Problem, toDocshelfError } from '../../../domain/errors.ts';
import { refuseSignatureName, requireFileName, SIGNATURE_EXTENSION } from '../../../domain/file-name.ts';
import { showName } from '../../../domain/secret.ts';
import type { ShapeOf } from '../../../domain/shape.ts';
import { collect } from '../../../files/index.ts';
import type { importedSchema } from '../../admin/operations.ts';
import { requestIdOf } from '../../listener/request.ts';
import { problemOf } from '../../problem.ts';
import { ActionForm } from '../forms.tsx';
import { type FormPart, formParts } from '../multipart.ts';
import { FORM_TOKEN, requireFormToken, summaryOf, type Verdict } from '../sessions.ts';
import { backTo, call, parameterOf, type SessionVisit, siteAddress, type VisitProps } from '../visit.ts';

const ARCHIVES = '.tar,.gz,.tgz,.zst,.zip';

/** With `upload.js`, the form also accepts dropped files, and shows the progress and the result of each file. */
export function UploadForm({ visit, domain }: VisitProps & { readonly domain: string }) {
  if (visit.session === null) return null;
  return (
    <section id="upload">
      <div class="title">
        <h2 id="upload-title">Upload bundles</h2>
        <small>.tar, .tar.gz, .tar.zst or .zip</small>
      </div>
      <ActionForm
        visit={visit}
        action={`${siteAddress(domain)}/upload`}
        class="card upload"
        enctype="multipart/form-data"
        aria-labelledby="upload-title"
      >
        <p class="check">
          <input type="checkbox" id="upload-activate" name="activate" value="true" checked />
          <label for="upload-activate">Activate after the import</label>
        </p>
        <p>
          <label for="upload-version">Version</label>
          <input id="upload-version" name="version" autocomplete="off" aria-describedby="upload-version-help" />
          <small id="upload-version-help">Leave empty to use the version from the archive or its file name.</small>
        </p>
        <p>
          <label for="upload-signature">Signatures</label>
          <input type="file" id="upload-signature" name="signature" accept=".minisig" multiple />
          <small>Select the .minisig files of the archives if the config has public keys.</small>
        </p>
        <p>
          <label for="upload-bundle">Archives</label>
          <input type="file" id="upload-bundle" name="bundle" accept={ARCHIVES} multiple required />
          <small class="drop">With JavaScript, you can also drop archives and signatures here.</small>
        </p>
        <button type="submit" class="primary">
          Upload
        </button>
      </ActionForm>
      <ol class="uploads" data-own aria-label="Uploads"></ol>
    </section>
  );
}

const FIELD_BYTES_MAX = 64 * 1024;

/** Imports each archive while it arrives, so fields and signatures must precede archives. */
export async function upload(visit: SessionVisit): Promise<Response> {
  const { c } = visit;
  const verdicts: Verdict[] = [];
  const fields = new Map<string, string>();
  const signatures = new Map<string, string>();
  for await (const part of formParts(c.req.raw)) {
    if (part.fileName === null) fields.set(part.name, await textOf(part));
    if (part.fileName === null || part.fileName === '') continue;
    // Check the form token before reading any byte of a file.
    requireFormToken(fields.get(FORM_TOKEN) ?? null, visit.session);
    if (part.name === 'signature') signatures.set(part.fileName, await textOf(part));
    else {
      const own = signatures.get(part.fileName + SIGNATURE_EXTENSION);
      // If the form contains only one signature, use it for the first archive, even if the file names do not match.
      const only = verdicts.length === 0 && signatures.size === 1 ? signatures.values().next().value : undefined;
      verdicts.push(await importOne(visit, part, fields, own ?? only ?? null));
    }
  }
  requireFormToken(fields.get(FORM_TOKEN) ?? null, visit.session);
  if (verdicts.length === 0) verdicts.push(noArchive(requestIdOf(c.env)));
  const isScript = (c.req.header('accept') ?? '').startsWith('application/json');
  if (isScript) return c.json(verdicts);
  const [only, second] = verdicts;
  const message = second === undefined && only ? only : summaryOf(verdicts, 'archive', 'imported');
  return backTo(visit, siteAddress(parameterOf(visit, 'domain')), message);
}

async function importOne(
  visit: SessionVisit,
  { fileName, body }: FormPart,
  fields: ReadonlyMap<string, string>,
  signature: string | null,
): Promise<Verdict> {
  const name = fileName ?? '';
  const target = { domain: parameterOf(visit, 'domain'), parameters: { fileName: name } };
  const failed = (problem: Problem): Verdict => ({ text: `${showName(name)} was rejected`, problem });
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
  const { version, activated, moved } = answer.value as ShapeOf<typeof importedSchema>;
  const former = moved === undefined ? '' : ` instead of ${moved.slice(0, 12)}`;
  return {
    text: `${showName(name)} was imported: version ${version} is ${activated ? 'active' : 'stored'}${former}`,
    problem: null,
  };
}

async function textOf({ name, body }: FormPart): Promise<string> {
  const bytes = await collect(body, FIELD_BYTES_MAX);
  if (bytes !== null) return bytes.toString();
  throw new DocshelfError('payload_too_large', `Cannot read the request: the field "${name.slice(0, 64)}" is too long`);
}

function noArchive(requestId: string | null): Verdict {
  const error = new DocshelfError('bad_request', 'Cannot import a bundle: the form contains no archive', {
    next: 'Select an archive, or drop an archive on the page.',
  });
  return { text: 'No archive was selected', problem: problemOf(error, requestId) };
}

import { describe, expect, it } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { formParts } from '../../../src/http/console/multipart.ts';
import { actionsThatNote, DIGEST, TOKEN } from '../admin/admin-example.ts';
import { Operator } from './operator.ts';

const BOUNDARY = '----WebKitFormBoundaryABC';

/** Request whose body arrives in chunks of the given size. */
function requestOf(body: Uint8Array, chunkBytes: number, type = `multipart/form-data; boundary=${BOUNDARY}`): Request {
  const chunks = Array.from({ length: Math.ceil(body.length / chunkBytes) }, (_, at) =>
    body.slice(at * chunkBytes, (at + 1) * chunkBytes),
  );
  const stream = new ReadableStream({
    pull: (controller) => {
      const chunk = chunks.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
  });
  return new Request('http://a/', {
    method: 'POST',
    headers: { 'Content-Type': type },
    body: stream,
    duplex: 'half',
  } as RequestInit);
}

function formOf(parts: readonly [head: string, body: string][]): Buffer {
  const written = parts.map(
    ([head, body]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`,
  );
  return Buffer.from(`${written.join('')}--${BOUNDARY}--\r\n`);
}

async function readAll(request: Request): Promise<[string, string | null, string][]> {
  const found: [string, string | null, string][] = [];
  for await (const { name, fileName, body } of formParts(request)) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    found.push([name, fileName, Buffer.concat(chunks).toString()]);
  }
  return found;
}

describe('formParts() (parser of multipart forms)', () => {
  const PARTS: [string, string][] = [
    ['name="formToken"', 'abc'],
    ['name="version"', ''],
    [
      'name="bundle"; filename="a %22b%22; name=x.zip"\r\nContent-Type: application/zip',
      `x\r\n--${BOUNDARY.slice(0, -1)}\r\n\r\n--`,
    ],
    ['name="bundle"; filename=""', ''],
    ['name="bundle"; filename="größe.zip"', '\r\n'.repeat(40)],
  ];

  it.each([1, 2, 7, 33, 100_000])('reads fields and files that arrive %i bytes at a time', async (chunkBytes) => {
    expect(await readAll(requestOf(formOf(PARTS), chunkBytes))).toEqual([
      ['formToken', null, 'abc'],
      ['version', null, ''],
      ['bundle', 'a "b"; name=x.zip', `x\r\n--${BOUNDARY.slice(0, -1)}\r\n\r\n--`],
      ['bundle', '', ''],
      ['bundle', 'größe.zip', '\r\n'.repeat(40)],
    ]);
  });

  it('continues after a part whose body was not read, or was read only partly', async () => {
    const found: string[] = [];
    for await (const { name, fileName, body } of formParts(requestOf(formOf(PARTS), 5))) {
      found.push(`${name} ${fileName}`);
      if (name === 'bundle') await body.next();
    }
    expect(found).toHaveLength(PARTS.length);
  });

  it.each([
    ['ends within a part', formOf(PARTS).subarray(0, 200)],
    ['has no boundary', Buffer.from('hello')],
    ['has no end', formOf(PARTS).subarray(0, -6)],
    ['has a part header without end', Buffer.from(`--${BOUNDARY}\r\n${'x'.repeat(20_000)}`)],
  ])('rejects a body that %s', async (_, body) => {
    await expect(readAll(requestOf(body, 64))).rejects.toMatchObject({ code: 'bad_request' });
  });

  it.each(['text/plain', 'multipart/form-data', 'multipart/mixed; boundary=x'])(
    'rejects the Content-Type %s',
    async (type) => {
      await expect(readAll(requestOf(Buffer.from(''), 1, type))).rejects.toMatchObject({
        code: 'unsupported_media_type',
      });
    },
  );
});

describe('upload on the console', () => {
  type Field = [name: string, value: string | File];
  const zip = (name = 'a.zip', text = 'bytes') => new File([text], name);
  const archives = (...names: string[]) => names.map((name): Field => ['bundle', zip(name)]);
  const UPLOAD = '/sites/acme/upload';
  const IMPORTED = { version: 'v1', digest: DIGEST, activated: true, unpacked: true };

  async function send(operator: Operator, fields: readonly Field[], headers: Record<string, string> = {}) {
    const form = new FormData();
    for (const [name, value] of fields) form.append(name, value);
    return operator.app.request(operator.origin + UPLOAD, {
      method: 'POST',
      headers: { Cookie: operator.cookie, Origin: operator.origin, Accept: 'text/html', ...headers },
      body: form,
    });
  }

  /** Sends a form with the session's token. */
  const sendForm = async (operator: Operator, fields: readonly Field[], headers: Record<string, string> = {}) =>
    send(operator, [['formToken', await operator.formToken()], ...fields], headers);

  /** Returns the JSON response for scripts. */
  async function verdictsOn(operator: Operator, fields: readonly Field[]) {
    const answer = await sendForm(operator, fields, { Accept: 'application/json' });
    expect(answer.status).toBe(200);
    return (await answer.json()) as { text: string; problem: Record<string, unknown> | null }[];
  }

  const uploadedTo = ({ calls }: Operator) => calls.filter(([name]) => name === 'upload');

  it('imports an archive with the signature, the version and the activate option of the form', async () => {
    const operator = await Operator.signedIn();
    const signature = new File(['untrusted comment: x'], 'a.zip.minisig');
    const fields: Field[] = [['version', 'v9'], ['signature', signature], ...archives('a.zip', 'b.zip')];
    const { page } = await operator.follow(await sendForm(operator, fields), UPLOAD);
    expect(page).toContain('a.zip was imported: version v9 is active');
    const options = { version: 'v9', activate: false, source: 'upload' };
    expect(uploadedTo(operator)).toEqual([
      ['upload', 'a.zip', 'bytes', { ...options, signature: 'untrusted comment: x' }],
      ['upload', 'b.zip', 'bytes', { ...options, signature: null }],
    ]);
  });

  it('returns a result for each archive, with the error code and the invalid entry of a rejected archive', async () => {
    const upload = (fileName: string) =>
      fileName === 'evil.zip'
        ? Promise.reject(new DocshelfError('type_symlink', 'Cannot unpack "evil.zip": its entry "a<b" is a link'))
        : Promise.resolve(IMPORTED);
    const operator = await Operator.signedIn({ actions: actionsThatNote([], { upload }) });
    const evil = zip('evil.zip', 'x'.repeat(300_000));
    const fields: Field[] = [['activate', 'true'], ['bundle', evil], ...archives('a.zip')];
    expect(await verdictsOn(operator, fields)).toEqual([
      {
        text: 'evil.zip was rejected',
        problem: expect.objectContaining({ code: 'type_symlink', error: expect.stringContaining('a<b') }),
      },
      { text: 'a.zip was imported: version v1 is active', problem: null },
    ]);
  });

  it.each<[string, Field[], Record<string, string>, number]>([
    ['with the token after the archive', [...archives('a.zip'), ['formToken', 'x']], {}, 403],
    ['with a wrong token', [['formToken', 'x'], ...archives('a.zip')], {}, 403],
    ['without a token and archive', [['version', 'v1']], {}, 403],
    ['from another port', archives('a.zip'), { Origin: 'http://localhost:8080' }, 403],
    ['without a session', archives('a.zip'), { Cookie: '' }, 401],
  ])('imports no archive if the form is not authorized: sent %s', async (_, fields, headers, status) => {
    const operator = await Operator.signedIn();
    const answer = await send(operator, fields, headers);
    expect([answer.status, operator.calls]).toEqual([status, []]);
  });

  it('imports no further archive of a form if the admin token changes during the upload', async () => {
    let token = new Secret(TOKEN);
    const accepted: string[] = [];
    const upload = async (fileName: string) => {
      accepted.push(fileName);
      token = new Secret('another-battery-staple');
      return IMPORTED;
    };
    const operator = await Operator.signedIn({ actions: actionsThatNote([], { upload }), token: () => token });
    const answer = await sendForm(operator, archives('a.zip', 'b.zip'));
    expect([answer.status, accepted]).toEqual([401, ['a.zip']]);
  });

  it('states which bundle the uploaded bundle replaces if both have the same version label', async () => {
    const upload = async () => ({ ...IMPORTED, activated: false, moved: 'e'.repeat(64) });
    const operator = await Operator.signedIn({ actions: actionsThatNote([], { upload }) });
    const text = 'a.zip was imported: version v1 is stored instead of eeeeeeeeeeee';
    expect(await verdictsOn(operator, archives('a.zip'))).toEqual([{ text, problem: null }]);
  });

  it('shows the result of each archive with its reason, also without JavaScript', async () => {
    const upload = (fileName: string) => {
      if (fileName === 'good.zip') return Promise.resolve(IMPORTED);
      const rule = fileName === 'link.zip' ? 'type_symlink' : 'name_dotdot';
      return Promise.reject(new DocshelfError(rule, `Cannot unpack "${fileName}": its entry "a<b"`, { next: rule }));
    };
    const operator = await Operator.signedIn({ actions: actionsThatNote([], { upload }) });
    const answer = await sendForm(operator, archives('link.zip', 'good.zip', 'above.zip'));
    const { page } = await operator.follow(answer, UPLOAD);
    for (const text of [
      '1 of 3 archives were imported',
      'good.zip was imported: version v1 is active',
      'Cannot unpack &quot;link.zip&quot;: its entry &quot;a&lt;b&quot;',
      'Cannot unpack &quot;above.zip&quot;: its entry &quot;a&lt;b&quot;',
      'href="../manual/errors#type_symlink"',
      'href="../manual/errors#name_dotdot"',
      '<strong>Next:</strong> name_dotdot',
      '<code>type_symlink</code>',
      'class="alert bad"',
    ])
      expect(page).toContain(text);
  });

  it.each(['../evil.zip', '.', '..', 'a/..', 'a\\b.zip', 'x'.repeat(256)])(
    'rejects the invalid file name %s with bad_request, as the admin API does',
    async (name) => {
      const operator = await Operator.signedIn();
      expect(await verdictsOn(operator, archives(name))).toMatchObject([{ problem: { code: 'bad_request' } }]);
      expect(uploadedTo(operator)).toEqual([]);
    },
  );

  it.each(['100%.zip', '%2e%2e', 'a?b#c.zip', 'größe ۱.zip', 'a;b=".zip', '.zip', 'a.part'])(
    'imports an archive with the file name %s',
    async (name) => {
      const operator = await Operator.signedIn();
      await verdictsOn(operator, archives(name));
      expect(uploadedTo(operator).map(([, fileName]) => fileName)).toEqual([name]);
    },
  );

  it.each([
    ['alone', ['a.minisig'], []],
    ['next to its archive', ['a.zip', 'a.zip.minisig'], ['a.zip']],
    ['with a doubled extension', ['a.minisig.minisig'], []],
  ])('rejects a signature file in the field for archives: %s', async (_case, names, accepted) => {
    const operator = await Operator.signedIn();
    expect((await verdictsOn(operator, archives(...names))).at(-1)).toMatchObject({
      text: `${names.at(-1)} was rejected`,
      problem: { code: 'unknown_format', error: expect.stringContaining('it is a signature, not an archive') },
    });
    expect(uploadedTo(operator).map(([, fileName]) => fileName)).toEqual(accepted);
  });

  it.each(['a\u202egz.zip', 'a\u0085b.zip', 'a\u2028b.zip', 'a\u2066b.zip'])(
    'rejects the file name %j, and shows it escaped',
    async (name) => {
      const operator = await Operator.signedIn();
      const [verdict] = await verdictsOn(operator, archives(name));
      expect(verdict).toMatchObject({ text: expect.stringMatching(/^a\\u\{\w+\}/), problem: { code: 'bad_request' } });
      expect(uploadedTo(operator)).toEqual([]);
    },
  );

  it('shows an error if no file was chosen', async () => {
    const operator = await Operator.signedIn();
    expect(await verdictsOn(operator, [['bundle', zip('', '')]])).toMatchObject([
      { text: 'No archive was selected', problem: { next: expect.any(String) } },
    ]);
  });
});

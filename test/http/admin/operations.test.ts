import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { actionCommand } from '../../../src/cli/command.ts';
import { clientOver } from '../../../src/cli/daemon-client.ts';
import type { Operation } from '../../../src/domain/operation.ts';
import { statusSchema } from '../../../src/domain/status.ts';
import type { AdminEnv } from '../../../src/http/admin/actions.ts';
import { ADMIN_INFO, operations } from '../../../src/http/admin/operations.ts';
import { openApiDocument } from '../../../src/http/openapi.ts';
import { addRoutes, route } from '../../../src/http/routes.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { listenerBench } from '../listener/listener-bench.ts';
import { STATUS } from '../status-example.ts';

const clientOf = (socketPath: string) => clientOver('the daemon', { socketPath }, {});

const INFO = { ...ADMIN_INFO, programVersion: '0.1.0', publicUrl: null };
const { open } = listenerBench({ name: 'admin' });

async function onSocket(app: Hono<AdminEnv>) {
  const path = join(newFolder(), 'x.sock');
  return { path, listener: await open({ socket: path, fetch: (request, env) => app.fetch(request, env) }) };
}

describe('operations of the admin listener', () => {
  it('are described by an OpenAPI document that is valid according to the OpenAPI 3.1 schema', async () => {
    const document = openApiDocument(Object.values(operations), INFO);
    const result = await new Validator().validate(JSON.parse(JSON.stringify(document)));
    expect(result.errors).toBeUndefined();
    expect(result.valid).toBe(true);
  });

  it('have a schema for the status response, which rejects an unknown state', () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    const check = ajv.compile(statusSchema);
    expect(check(STATUS) ? [] : check.errors).toEqual([]);
    expect(check({ ...STATUS, active: null, lastReload: null, lastError: null, pinned: null })).toBe(true);
    expect(check({ ...STATUS, state: 'idle' })).toBe(false);
  });

  it('can be added with one definition, from which route, OpenAPI entry, client call and CLI help are derived', async () => {
    const greet = {
      ...operations.reload,
      id: 'greet',
      path: '/v1/greetings/{name}',
      summary: 'Greet somebody',
      parameters: { name: { description: 'Whom.', schema: { type: 'string' } } },
    } as const satisfies Operation;
    const app = new Hono<AdminEnv>();
    addRoutes(app, [route(greet, (c) => c.json({ hello: c.req.param('name') }))], { adminToken: [] });

    const { path } = await onSocket(app);
    expect(await clientOf(path).call(greet, { parameters: { name: 'a b/c' } })).toEqual({ hello: 'a b/c' });
    expect(openApiDocument([greet], INFO)).toMatchObject({
      paths: { '/v1/greetings/{name}': { post: { operationId: 'greet' } } },
    });
    expect(actionCommand('greet', greet, 'docshelf greet').description()).toBe('Greet somebody');
  });
});

describe('admin socket', () => {
  it('is accessible to its owner only, responds, and is deleted when closed', async () => {
    const app = new Hono<AdminEnv>();
    app.get('/v1/status', (c) => c.json({ state: 'ready' }));
    const { path, listener } = await onSocket(app);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await clientOf(path).call(operations.status)).toEqual({ state: 'ready' });
    await listener.stop(0);
    await expect(stat(path)).rejects.toThrow('ENOENT');
    await expect(clientOf(path).call(operations.status)).rejects.toMatchObject({ code: 'daemon_unreachable' });
  });
});

import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, it } from 'vitest';
import { documentOf } from './api-example.ts';

it.each([
  { search: true, exports: true },
  { search: true, exports: false },
  { search: false, exports: true },
])('the OpenAPI document is valid by the schema of OpenAPI 3.1: %o', async (offered) => {
  const document = documentOf(offered, 'https://api.acme.dev');
  const validator = new Validator();
  const result = await validator.validate(JSON.parse(JSON.stringify(document)));
  expect(result.errors).toBeUndefined();
  expect([result.valid, validator.version]).toEqual([true, '3.1']);
});

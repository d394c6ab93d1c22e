import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { newFolder } from '../helpers/new-folder.ts';

/** Response of STS: credentials of a role that are valid for an hour. Their secret is `of-the-role`. */
export const roleCredentials = (): string =>
  `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>
    <AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>of-the-role</SecretAccessKey><SessionToken>t</SessionToken>
    <Expiration>${new Date(Date.now() + 3600_000).toISOString()}</Expiration>
    </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;

/** Sets the environment of a pod that has a web identity instead of keys. */
export function useWebIdentity(stsOrigin: string): void {
  const token = join(newFolder(), 'token');
  writeFileSync(token, 'header.claims.signature');
  vi.stubEnv('AWS_ACCESS_KEY_ID', '');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', '');
  vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', token);
  vi.stubEnv('AWS_ROLE_ARN', 'arn:aws:iam::123456789012:role/docshelf');
  vi.stubEnv('AWS_ENDPOINT_URL_STS', stsOrigin);
}

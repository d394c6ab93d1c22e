import { InvalidArgumentError } from 'commander';
import { isVersion } from '../domain/version.ts';

/** What stands after `--version`. @throws InvalidArgumentError: the command line is wrong, and no archive was looked at. */
export function versionLabel(text: string): string {
  if (isVersion(text)) return text;
  throw new InvalidArgumentError('It is a version such as 2024-06-01 or v3.2.0.');
}

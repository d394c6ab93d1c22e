import { coerceText } from './coerce-text.ts';
import { schemaAt } from './schema-node.ts';
import { type Setting, settingsOf } from './setting.ts';

/** The settings of command-line flags: dotted key to value, a text being read as in the environment. */
export async function readFlags(flags: Readonly<Record<string, unknown>>): Promise<Setting[]> {
  const given = Object.entries(flags).filter(([, value]) => value !== undefined);
  const settings: Setting[] = [];
  for (const [dotted, value] of given) {
    const path = dotted.split('.');
    const schema = schemaAt(path);
    const [typed] =
      typeof value === 'string' && schema !== undefined ? await coerceText([{ schema, text: value }]) : [value];
    settings.push(...settingsOf(typed, { where: 'flag', places: new Map() }, path));
  }
  return settings;
}

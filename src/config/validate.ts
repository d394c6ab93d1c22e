import { Ajv } from 'ajv';
import { explainErrors } from './explain-errors.ts';
import { type ConfigFault, FAULTS_MAX, faultOf } from './faults.ts';
import { FORMATS } from './formats.ts';
import { unknownKeySentence } from './nearest.ts';
import { schemaAt, sectionOf } from './schema-node.ts';
import { dottedOf, pointerOf, type Setting, type Settings } from './setting.ts';
import { parseDuration, parseSize } from './units.ts';

/**
 * Checks each setting by its own key's schema: compiling the whole takes 47 ms of CPU at every start, a usual config's
 * keys less than 10 (measured). Sections were checked when the sources came apart into settings.
 */
export function validate(settings: Settings): { faults: readonly ConfigFault[]; faulty: ReadonlySet<string> } {
  const ajv = createAjv();
  const faults: ConfigFault[] = [];
  const faulty = new Set<string>();
  for (const setting of settings.all()) {
    if (faults.length > FAULTS_MAX) break;
    const found = faultsOf(setting, ajv);
    faults.push(...found);
    if (found.length > 0) faulty.add(pointerOf(setting.path));
  }
  return { faults, faulty };
}

function faultsOf(setting: Setting, ajv: Ajv): ConfigFault[] {
  const { path, value, where, places } = setting;
  const schema = schemaAt(path);
  if (schema === undefined) return [unknownKey(setting)];
  const check = ajv.compile(schema);
  if (check(value)) return [];
  const top = pointerOf(path);
  return explainErrors(check.errors ?? [], top).map(({ pointer, missing, message }) =>
    faultOf(message, dottedOf(missing ?? pointer), places.get(pointer) ?? where),
  );
}

function unknownKey({ path, where }: Setting): ConfigFault {
  const parent = path.slice(0, -1);
  const name = path.at(-1) ?? '';
  const siblings = Object.keys(sectionOf(schemaAt(parent))?.properties ?? {});
  return faultOf(unknownKeySentence(parent.join('.'), name, siblings), dottedOf(pointerOf(path)), where);
}

function createAjv(): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    // The schema is generated and tested; checking it against its meta schema at every start costs 20 ms.
    meta: false,
    validateSchema: false,
    strict: false,
    // Optimising the generated code costs more than running it once.
    code: { optimize: false },
  });
  for (const [name, holds] of Object.entries(FORMATS)) ajv.addFormat(name, holds);
  ajv.addKeyword({
    keyword: 'x-bounds',
    validate: (bounds: { min: string; max: string }, written: unknown) => {
      const parse = /[smhd]$/.test(bounds.min) ? parseDuration : parseSize;
      const value = parse(written);
      // Text that is no size or duration at all fails its pattern.
      return value === null || (value >= (parse(bounds.min) ?? 0) && value <= (parse(bounds.max) ?? 0));
    },
  });
  return ajv;
}

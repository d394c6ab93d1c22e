import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { type ConfigFault, faultOf } from '../faults.ts';
import type { Config } from '../schema/index.ts';
import { faultInside, type Settings } from '../setting.ts';

const LISTENERS = ['server', 'admin', 'api'] as const;
type Pair = Pick<Config['server']['tls'], 'certFile' | 'keyFile'>;

/** Certificates without their key, those that it does not fit, and what asks for TLS where none is. */
export function findTlsFaults(settings: Settings, config: Config): ConfigFault[] {
  return LISTENERS.flatMap((listener) => {
    const { tls } = config[listener];
    const section = `${listener}.tls`;
    const faults: ConfigFault[] = [];
    const tell = (name: string, sentence: string): void => {
      const key = `${section}.${name}`;
      faults.push(faultOf(`${key} ${sentence}`, key, settings.get(key)?.where ?? null));
    };
    const fault = pairFault(tls);
    if (fault !== null) tell(...fault);
    if (tls.certFile === null && tls.keyFile === null) {
      const needs = `needs a certificate: set ${section}.certFile and ${section}.keyFile`;
      if (tls.certificates.length > 0) tell('certificates', needs);
      if (tls.hstsMs !== null) tell('hsts', needs);
      if (tls.redirectPort !== null) tell('redirectPort', needs);
    }
    const taken = portTakenBy(config, listener);
    if (taken !== null) tell('redirectPort', `is the port of ${taken} as well; change one of them`);
    for (const [index, pair] of tls.certificates.entries()) {
      const [name, sentence] = pairFault(pair) ?? [];
      if (name === undefined) continue;
      const setting = settings.get(`${section}.certificates`);
      faults.push(
        faultInside(setting, [...section.split('.'), 'certificates', index, name], (key) => `${key} ${sentence}`),
      );
    }
    return faults;
  });
}

/** Another key with the redirecting port of a listener. Port 0 takes a free one each time. */
function portTakenBy(config: Config, listener: (typeof LISTENERS)[number]): string | null {
  const { redirectPort } = config[listener].tls;
  if (redirectPort === null || redirectPort === 0) return null;
  const own = `${listener}.tls.redirectPort`;
  const taken = LISTENERS.flatMap((each) => {
    const { port, tls } = config[each];
    return Object.entries({ [`${each}.port`]: port, [`${each}.tls.redirectPort`]: tls.redirectPort });
  });
  return taken.find(([key, port]) => key !== own && port === redirectPort)?.[0] ?? null;
}

function pairFault({ certFile, keyFile }: Pair): readonly [name: string, sentence: string] | null {
  if (certFile === null && keyFile === null) return null;
  if (certFile === null) return ['keyFile', 'has no certificate beside it; set certFile'];
  if (keyFile === null) return ['certFile', 'has no key beside it; set keyFile'];
  const chain = certFile.text.reveal();
  const key = keyFile.text.reveal();
  // That they can be read has its own fault.
  if (chain === '' || key === '') return null;
  const unfit = unfitChain(chain, certFile.path);
  if (unfit !== null) return ['certFile', unfit];
  const state = unfitKey(chain, key);
  return state === null ? null : ['keyFile', `"${keyFile.path}" ${state}`];
}

function unfitChain(chain: string, path: string): string | null {
  try {
    new X509Certificate(chain);
    return null;
  } catch {
    return `"${path}" holds no sound PEM certificate; put the server's own first, then those that it was signed by`;
  }
}

/** As OpenSSL will judge them when they are used. */
function unfitKey(chain: string, key: string): string | null {
  if (/ENCRYPTED/.test(key)) return 'is locked by a passphrase; give docshelf the key without one';
  try {
    const fits = new X509Certificate(chain).checkPrivateKey(createPrivateKey(key));
    if (!fits) return 'is the key of another certificate; certFile and keyFile must be of one pair';
  } catch {
    return 'holds no sound PEM private key';
  }
  try {
    createSecureContext({ cert: chain, key });
    return null;
  } catch (error) {
    return `and its certificate are refused by OpenSSL: ${(error as NodeJS.ErrnoException).code ?? 'no reason given'}`;
  }
}

/** A site's colour. Lightness is the theme's, so that text stays readable in every tone. */
export interface Tone {
  /** Degrees of OKLCH. */
  readonly hue: number;
  /** 1 for colour, 0 for a site in shades of grey. */
  readonly tint: 0 | 1;
}

const HEX = /^#(?:([0-9a-f]{3})|([0-9a-f]{6}))$/i;
/** Chroma below which a colour has no hue that anybody sees. */
const GREY_CHROMA_MAX = 0.02;

export function toneOfColour(colour: string): Tone | null {
  const [, short, long] = HEX.exec(colour) ?? [];
  const digits = long ?? short?.replace(/./g, '$&$&');
  if (digits === undefined) return null;
  const channelAt = (at: number) => linear(Number.parseInt(digits.slice(at, at + 2), 16) / 255);
  const [red, green, blue] = [channelAt(0), channelAt(2), channelAt(4)] as const;
  // sRGB to OKLab, with the matrices of CSS Color 4, section 18.
  const long3 = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const middle3 = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const short3 = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  const a = 1.9779984951 * long3 - 2.428592205 * middle3 + 0.4505937099 * short3;
  const b = 0.0259040371 * long3 + 0.7827717662 * middle3 - 0.808675766 * short3;
  if (Math.hypot(a, b) < GREY_CHROMA_MAX) return { hue: 0, tint: 0 };
  return { hue: Math.round((Math.atan2(b, a) * 180) / Math.PI + 360) % 360, tint: 1 };
}

function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
}

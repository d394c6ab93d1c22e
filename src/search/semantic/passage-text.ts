import type { Passage, Section } from '../section.ts';

/** A passage as the model reads it: what it is about, then the text. */
export function passageText(section: Section, passage: Passage): string {
  const about = [...new Set([section.title, ...section.headings])].filter((heading) => heading !== '');
  return [...about, section.text.slice(passage.start, passage.end)].join('\n');
}

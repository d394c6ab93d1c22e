/**
 * Never of markup: nothing that a page says is read as such, and trusted types have nothing to refuse.
 *
 * @param {Record<string, string | boolean | undefined>} [attributes] `true` for one without a value; false and undefined are left out
 * @param {(Node | string)[]} children
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) made.setAttribute(key, value === true ? '' : value);
  made.append(...children);
  return made;
}

export const fill = (sentence, values) => sentence.replaceAll(/\{(\w+)\}/g, (_, name) => values[name]);

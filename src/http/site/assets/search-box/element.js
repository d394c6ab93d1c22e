/**
 * Creates an element without parsing markup, so that pages that enforce Trusted Types accept it.
 * @param {Record<string, string | boolean | undefined>} [attributes] `true` sets an empty value; false and undefined are skipped
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

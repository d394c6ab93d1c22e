/**
 * Code blocks of a Markdown text in one language. Blocks in list items lose their indentation.
 * @param language as in the fence, such as `yaml`
 */
export function markdownBlocks(text: string, language: string): string[] {
  const fence = new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^\\1\`\`\``, 'gm');
  return [...text.matchAll(fence)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
}

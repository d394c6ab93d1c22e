/** Copies the text of an element if the operator presses the button whose `data-copy` contains the id of the element. */

const status = document.getElementById('copied');

for (const button of document.querySelectorAll('button[data-copy]')) {
  const shown = document.getElementById(button.dataset.copy);
  button.hidden = false;
  button.addEventListener('click', () => {
    void copied(shown).then((isCopied) => {
      status.textContent = isCopied ? 'Copied.' : 'The text is selected. Copy it with the keyboard.';
    });
  });
}

/** Uses a selection over plain HTTP from another machine, where no clipboard is available (Clipboard API, section 7.2). */
async function copied(shown) {
  try {
    await navigator.clipboard.writeText(shown.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(shown);
    return document.execCommand('copy');
  }
}

export {};

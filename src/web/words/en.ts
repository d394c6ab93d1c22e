/** Words for readers, who know nothing of the deployment. A key that joins here joins in every language. */
export const en = {
  notices: {
    notFound: {
      title: 'Not found',
      text: 'There is no such page in this documentation. It may have been moved or renamed.',
    },
    nothingHere: { title: 'Not found', text: 'There is no documentation at this address.' },
    off: { title: 'This documentation is turned off', text: 'Ask whoever gave you its address.' },
    notReady: {
      title: 'This documentation is not ready yet',
      text: 'No version of it has arrived yet. Try again in a few minutes.',
    },
    notLoaded: {
      title: 'This documentation is not ready yet',
      text: 'It could not be loaded so far. Whoever looks after it can see the reason.',
    },
    unavailable: { title: 'This page cannot be shown at the moment', text: 'Try again shortly.' },
    badAddress: {
      title: 'This address cannot be read',
      text: 'It has a percent sign that stands for no character. Check how the link was written.',
    },
    longAddress: { title: 'This address is too long', text: 'Check how the link was written.' },
    readOnly: { title: 'This page can only be read', text: 'Nothing can be sent to its address.' },
    signIn: { title: 'Sign in to read this documentation', text: 'Reload the page to sign in.' },
    notSignedIn: {
      title: 'You are not signed in',
      text: 'Open this documentation by the address that your organization gives for it.',
    },
    wrongPasswords: {
      title: 'Too many wrong passwords',
      text: 'They came from your network. Wait a little, and try again.',
    },
    noSignIn: { title: 'Signing in does not work at the moment', text: 'Try again shortly.' },
    signInUnfinished: {
      title: 'You are not signed in yet',
      text: 'It took too long, or was begun in another browser. Open the documentation again to sign in.',
    },
    notAllowed: {
      title: 'This documentation is not open to you',
      text: 'You are signed in, and your account may not read it. Ask whoever gave you its address.',
    },
    stillSignedIn: { title: 'You are still signed in', text: 'Open this address again to sign out.' },
    signOut: {
      title: 'Sign out?',
      text: 'You will be asked to sign in again when you next open this documentation.',
      button: 'Sign out',
    },
  },
  shelf: {
    title: 'Documentation',
    findSite: 'Find a site',
    searchAll: 'Search all documentation',
    find: 'Find',
    empty: 'There is no documentation here yet.',
    sites: 'Sites: {total}',
    matching: 'Sites: {count} of {total}',
    version: 'Version',
    language: 'Language',
    date: 'Date',
    soon: 'Not there yet',
    signIn: 'Sign in to see more',
    inPages: 'In their pages',
    found: 'Pages found: {count}',
    noneFound: 'No page found',
    searchBusy: 'Too many searches at the moment, try again shortly',
    searchNotReady: 'The search is not ready yet, try again shortly',
    searchAway: 'The search did not answer',
  },
};
export type ReaderWords = typeof en;

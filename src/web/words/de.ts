import type { ReaderWords } from './en.ts';

export const de: ReaderWords = {
  notices: {
    notFound: {
      title: 'Nicht gefunden',
      text: 'Diese Seite gibt es in dieser Dokumentation nicht. Vielleicht wurde sie verschoben oder umbenannt.',
    },
    nothingHere: { title: 'Nicht gefunden', text: 'Unter dieser Adresse gibt es keine Dokumentation.' },
    off: {
      title: 'Diese Dokumentation ist abgeschaltet',
      text: 'Fragen Sie dort nach, woher Sie die Adresse haben.',
    },
    notReady: {
      title: 'Diese Dokumentation ist noch nicht bereit',
      text: 'Es ist noch keine Fassung von ihr eingetroffen. Versuchen Sie es in einigen Minuten noch einmal.',
    },
    notLoaded: {
      title: 'Diese Dokumentation ist noch nicht bereit',
      text: 'Sie konnte bisher nicht geladen werden. Wer sie betreut, sieht den Grund.',
    },
    unavailable: {
      title: 'Diese Seite kann im Moment nicht gezeigt werden',
      text: 'Versuchen Sie es in Kürze noch einmal.',
    },
    badAddress: {
      title: 'Diese Adresse ist nicht lesbar',
      text: 'Sie enthält ein Prozentzeichen, das für kein Zeichen steht. Prüfen Sie, wie der Link geschrieben ist.',
    },
    longAddress: { title: 'Diese Adresse ist zu lang', text: 'Prüfen Sie, wie der Link geschrieben ist.' },
    readOnly: {
      title: 'Diese Seite kann nur gelesen werden',
      text: 'An ihre Adresse kann nichts gesendet werden.',
    },
    signIn: {
      title: 'Melden Sie sich an, um diese Dokumentation zu lesen',
      text: 'Laden Sie die Seite neu, um sich anzumelden.',
    },
    notSignedIn: {
      title: 'Sie sind nicht angemeldet',
      text: 'Öffnen Sie diese Dokumentation unter der Adresse, die Ihre Organisation dafür angibt.',
    },
    wrongPasswords: {
      title: 'Zu viele falsche Passwörter',
      text: 'Sie kamen aus Ihrem Netz. Warten Sie ein wenig, und versuchen Sie es noch einmal.',
    },
    noSignIn: {
      title: 'Die Anmeldung funktioniert im Moment nicht',
      text: 'Versuchen Sie es in Kürze noch einmal.',
    },
    signInUnfinished: {
      title: 'Sie sind noch nicht angemeldet',
      text: 'Es hat zu lange gedauert, oder die Anmeldung wurde in einem anderen Browser begonnen. Öffnen Sie die Dokumentation erneut, um sich anzumelden.',
    },
    notAllowed: {
      title: 'Diese Dokumentation ist für Sie nicht zugänglich',
      text: 'Sie sind angemeldet, aber Ihr Konto darf sie nicht lesen. Fragen Sie dort nach, woher Sie die Adresse haben.',
    },
    stillSignedIn: {
      title: 'Sie sind noch angemeldet',
      text: 'Öffnen Sie diese Adresse erneut, um sich abzumelden.',
    },
    signOut: {
      title: 'Abmelden?',
      text: 'Wenn Sie diese Dokumentation das nächste Mal öffnen, müssen Sie sich wieder anmelden.',
      button: 'Abmelden',
    },
  },
  shelf: {
    title: 'Dokumentation',
    findSite: 'Dokumentation finden',
    searchAll: 'Alle Dokumentationen durchsuchen',
    find: 'Finden',
    empty: 'Hier gibt es noch keine Dokumentation.',
    sites: 'Dokumentationen: {total}',
    matching: 'Dokumentationen: {count} von {total}',
    version: 'Version',
    language: 'Sprache',
    date: 'Datum',
    soon: 'Noch nicht verfügbar',
    signIn: 'Anmelden, um mehr zu sehen',
    inPages: 'Auf ihren Seiten',
    found: 'Gefundene Seiten: {count}',
    noneFound: 'Keine Seite gefunden',
    searchBusy: 'Im Moment wird zu viel gesucht, versuchen Sie es in Kürze noch einmal',
    searchNotReady: 'Die Suche ist noch nicht bereit, versuchen Sie es in Kürze noch einmal',
    searchAway: 'Die Suche hat nicht geantwortet',
  },
  searchBox: {
    open: 'Suchen',
    label: 'Diese Dokumentation durchsuchen',
    close: 'Schließen',
    results: 'Ergebnisse',
    found: 'Ergebnisse: {count}',
    noneFound: 'Nichts gefunden zu „{query}“',
    didYouMean: 'Meinten Sie {query}?',
    recent: 'Letzte Suchen',
    forget: 'Löschen',
    language: 'Sprache',
    version: 'Version',
    tag: 'Schlagwort',
    all: 'Alle',
    scope: 'Wo',
    thisSite: 'Diese Dokumentation',
    allSites: 'Alle Dokumentationen',
    choose: 'Auswählen',
    follow: 'Öffnen',
    newTab: 'In neuem Tab',
    signIn: 'Sie sind nicht mehr angemeldet. Laden Sie die Seite neu, um sich anzumelden.',
    busy: 'Im Moment wird zu viel gesucht, versuchen Sie es in Kürze noch einmal',
    notReady: 'Die Suche ist noch nicht bereit, versuchen Sie es in Kürze noch einmal',
    away: 'Die Suche hat nicht geantwortet, versuchen Sie es in Kürze noch einmal',
  },
};
